"""Looks for the rules in texts, and says where it found what."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from .readings import SEPARATOR, Budget, decoded, plain
from .rules import Family, Risk, Rule, words_of

EXCERPT_CHARS = 80
# Base64 within percent signs: deeper than this nobody reads.
MAX_DEPTH = 2


@dataclass(frozen=True)
class Finding:
    """What was found: the rule's family and name, the place in the value, how it was encoded, and the words around it."""

    family: Family
    pattern: str
    where: str = ""
    encoding: str = ""
    excerpt: str = ""

    def as_dict(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class Search:
    """The rules of a family or more, up to a risk."""

    rules: tuple[Rule, ...]
    risk: Risk

    def seek(self, text: str) -> Finding | None:
        """The first finding in the text or in what is encoded in it."""
        return self._seek_decoded(text, Budget(), 0)

    def seek_as_it_stands(self, text: str) -> Finding | None:
        """The first finding in the text alone."""
        clear = plain(text)
        words = words_of(clear)
        for rule in self.rules:
            if match := rule.find(text if rule.literal else clear, words):
                return Finding(rule.family, rule.name, excerpt=_excerpt(match))
        return None

    def _seek_decoded(self, text: str, budget: Budget, depth: int) -> Finding | None:
        if finding := self.seek_as_it_stands(text):
            return finding
        if depth < MAX_DEPTH:
            for encoding, inner in decoded(text, budget, self.risk):
                if finding := self._seek_decoded(inner, budget, depth + 1):
                    return replace(finding, encoding=encoding)
        return None


def poisoned(parts: Sequence[str], seek: Callable[[str], Finding | None], *, most: int) -> list[int]:
    """The places of the parts that hold a finding, at most so many; halves that hold none are not looked at again."""
    found: list[int] = []
    todo = [(0, len(parts))]
    while todo and len(found) < most:
        start, end = todo.pop()
        if start == end or seek(SEPARATOR.join(parts[start:end])) is None:
            continue
        if end - start == 1:
            found.append(start)
            continue
        middle = (start + end) // 2
        todo += [(middle, end), (start, middle)]
    return found


def _excerpt(match: re.Match[str]) -> str:
    start = max(0, match.start() - EXCERPT_CHARS)
    words = match.string[start : match.end() + EXCERPT_CHARS].replace("\0", " ").split()
    return " ".join(words)[: 3 * EXCERPT_CHARS]
