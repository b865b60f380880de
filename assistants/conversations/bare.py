"""A line of Markdown as a list, a card or a search shows it: in plain words, though the line may be cut anywhere."""

import re

# What a line is made of besides its words: a quote's, list's or heading's beginning, a rule, a fence, emphasis, code.
_LINE_MARKS = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?)?")
_EMPTY_LINE = re.compile(r"[>\s]*+(?:[-*_=|:\s]{3,}|(?:```|~~~).*)")
_CELL_END = re.compile(r"(?<!\\)\|")
_INLINE_MARKS = re.compile(r"`+|(?<![\w*_~])(?:[*_]+|~~)(?=\S)|(?<=\S)(?:[*_]+|~~)(?![\w*_~])")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")


def bare_line(line: str) -> str:
    """The line without the marks of Markdown; empty if it is only made of them. A table's row gives its cells: a · b."""
    if _EMPTY_LINE.fullmatch(line):
        return ""
    bare = _INLINE_MARKS.sub("", _LINK.sub(r"\1", _LINE_MARKS.sub("", line))).strip()
    return " · ".join(filter(None, map(str.strip, _CELL_END.split(bare)))) if bare.startswith("|") else bare
