"""What the guard looks for: rules that start at a literal word and read a bounded stretch from there."""

import re
from collections.abc import Set
from dataclasses import dataclass
from enum import IntEnum, StrEnum

# Up to here it is faster to look for the anchors alone, from here on to look for the whole pattern everywhere.
MANY = 1000
WORD = re.compile(r"[^\W_]+")


class Family(StrEnum):
    """What a rule protects from; the name is what people and models read."""

    INJECTION = "prompt injection"
    SQL = "SQL injection"
    CODE = "code injection"
    PATH = "path traversal"
    COMMAND = "command injection"
    ADDRESS = "SSRF"


class Risk(IntEnum):
    """How far the content of a tool's results is from our own words; a rule counts from its risk upwards."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class Rule:
    """One pattern. It is tried only where one of its literal `anchors` stands, so a text is read a fixed number of times.

    Each anchor has a word in `gates`: where the text has no such word, the anchor is not looked for; empty means always.
    Without anchors the pattern is looked for everywhere, which a set of characters bears. With `from_line` it is tried
    where the anchor's line starts, if that is at most so many characters before. With `literal` it reads the text as it
    was written; all others read its plain form, which starts with a line break (see `readings.py`).
    """

    name: str
    family: Family
    anchors: tuple[str, ...]
    gates: tuple[str, ...]
    pattern: re.Pattern[str]
    risk: Risk = Risk.LOW
    from_line: int = 0
    literal: bool = False

    def find(self, text: str, words: Set[str]) -> re.Match[str] | None:
        """A match in the text, of which `words` are the words, or None. Linear: every try is bounded."""
        if not self.anchors:
            return self.pattern.search(text)
        tries = 0
        for anchor, gate in zip(self.anchors, self.gates, strict=True):
            if gate and gate not in words:
                continue
            at = text.find(anchor)
            while at >= 0:
                if match := self._match(text, at):
                    return match
                tries += 1
                if tries > MANY and not self.from_line:
                    return self.pattern.search(text)
                at = text.find(anchor, at + 1)
        return None

    def _match(self, text: str, at: int) -> re.Match[str] | None:
        if not self.from_line:
            return self.pattern.match(text, at)
        start = text.rfind("\n", max(0, at - self.from_line - 1), at) + 1
        return self.pattern.match(text, start) if start else None


def rule(
    name: str,
    family: Family,
    anchors: str,
    rest: str = "",
    *,
    before: str = "",
    risk: Risk = Risk.LOW,
    from_line: int = 0,
    literal: bool = False,
) -> Rule:
    """Makes a rule from its anchors, parted by `¦`, and the expression that follows them.

    `before` is what may (or may not) stand in front of the anchor; one that starts with a letter stands at the start of
    a word in any case. With `from_line` the expression is the whole pattern and reads from the line's start.
    """
    words = tuple(anchors.split("¦")) if anchors else ()
    beginning = "|".join(re.escape(word) for word in words)
    edge = r"(?<!\w)" if anchors[:1].isalpha() else ""
    pattern = rest if from_line else f"{edge}{before}(?:{beginning}){rest}"
    gates = tuple("" if literal else _gate(word) for word in words)
    return Rule(name, family, words, gates, re.compile(pattern), risk, from_line, literal)


def words_of(text: str) -> Set[str]:
    """The different words of a text; underscores part them."""
    # Most words come again and again: a tenth of them has to be taken apart.
    return frozenset(WORD.findall(" ".join(frozenset(text.split()))))


def _gate(anchor: str) -> str:
    """The anchor's first word, if it has letters alone: digits may go on where the anchor ends, as in `..%2fetc`."""
    first = WORD.search(anchor)
    return first[0] if first and first[0].isalpha() else ""
