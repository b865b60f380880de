"""A stretch of a Markdown document as one reads it: without its marks, the cells of a row apart, line by line."""

import re

_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_LINK = re.compile(
    r"!?\[((?:[^\[\]\\]|\\.){0,500})\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s+\"[^\"\n]{0,300}\")?\)", re.DOTALL
)
_PAIRS = (
    re.compile(r"(?<!\\)(\*\*|__|~~)(?=\S)(.{1,2000}?)(?<=[^\s\\])\1", re.DOTALL),
    re.compile(r"(?<![\w*\\])(\*)(?=[^\s*])([^*]{1,2000}?)(?<=[^\s\\])\*(?![\w*])"),
    re.compile(r"(?<![\w\\])(_)(?=[^\s_])([^_]{1,2000}?)(?<=[^\s\\])_(?!\w)"),
)
_RULE = re.compile(r"\s*\|?[\s:|-]*-{2,}[\s:|-]*\|[\s:|-]*")
_ROW = re.compile(r"\s*\|(.*?)\|?\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_HEAD = re.compile(r"^ {0,3}(?:#{1,6}\s+|> ?)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def unmarked(text: str) -> str:
    """The words of a quote, to be shown as plain text. Marks that are not closed within it stay: they may be its own."""
    lines = [_row(line) for line in text.split("\n") if not _RULE.fullmatch(line)]
    plain = _HEAD.sub("", "\n".join(lines))
    parts: list[str] = []
    done = 0
    # What stands in code is meant as it stands.
    for code in _CODE.finditer(plain):
        parts += [plain[done : code.start()], code[2]]
        done = code.end()
    parts.append(plain[done:])
    return "".join(part if place % 2 else _bare(part) for place, part in enumerate(parts))


def _row(line: str) -> str:
    row = _ROW.fullmatch(line)
    if not row or not line.lstrip().startswith("|"):
        return line
    cells = (" ".join(cell.split()) for cell in _CELLS.split(row[1]))
    return " · ".join(cell.replace("\\|", "|") for cell in cells if cell)


def _bare(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    for pair in _PAIRS:
        text = pair.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)
