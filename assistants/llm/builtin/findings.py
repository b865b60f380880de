"""How well passages answer a wish: which words they carry, and which sentence carries most of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .passages import Passage
from .segments import Segment, cut_segments
from .wish import Wish
from .words import Word, best_likeness, words_of

GOOD = 0.6
"""The share of the wish's words from which on a passage counts as an answer."""
FAINT = 0.3
"""The share below which a passage is not worth showing."""


@dataclass(frozen=True)
class Finding:
    """One passage with its best segment. `coverage` (0..1) is the share of the wish's words that it carries."""

    passage: Passage
    segments: tuple[Segment, ...]
    best: Segment
    coverage: float
    score: float
    named: float
    carried: frozenset[str] = field(default_factory=frozenset)


def rank_findings(wish: Wish, passages: Sequence[Passage]) -> tuple[Finding, ...]:
    """The passages that carry anything of the wish, best first; equal ones in the order of the search."""
    if not wish.searched:
        return ()
    weights = _weights(wish, passages)
    findings = [finding for passage in passages if (finding := _finding(wish, passage, weights))]
    return tuple(sorted(findings, key=lambda each: (-round(each.score, 4), each.passage.rank, each.passage.document)))


def missing_words(wish: Wish, findings: Sequence[Finding]) -> tuple[str, ...]:
    """The wish's own telling words that none of the findings carries."""
    carried = {each for finding in findings for each in finding.carried}
    return tuple(word.text for word in wish.words if word.weight >= 1 and word.text not in carried)


def _weights(wish: Wish, passages: Sequence[Passage]) -> dict[Word, float]:
    """A word that few of the passages carry tells more; one taken over from an earlier question tells less."""
    texts = [words_of(f"{passage.title} {passage.text}") for passage in passages]
    own = {word.stem for word in wish.words}
    weights = {}
    for word in wish.searched:
        bearers = sum(1 for each in texts if best_likeness(word, each) > 0)
        rarity = 1.0 + 0.5 * (1 - bearers / max(len(texts), 1)) if bearers else 1.0
        weights[word] = word.weight * rarity * (1.0 if word.stem in own or not own else 0.6)
    return weights


def _finding(wish: Wish, passage: Passage, weights: dict[Word, float]) -> Finding | None:
    segments = cut_segments(passage.text)
    quotable = [each for each in segments if each.kind != "heading"]
    if not quotable:
        return None
    above = words_of(f"{passage.title} {passage.name}")
    tables = {each: _strengths(weights, words_of(each.text)) for each in segments}
    headings = {each.heading: _strengths(weights, words_of(each.heading)) for each in segments}
    named = _strengths(weights, (*above, *words_of(" ".join(headings))))
    total = sum(weights.values())
    together = {word: max(named[word], *(table[word] for table in tables.values())) for word in weights}
    coverage = sum(weights[word] * strength for word, strength in together.items()) / total
    if coverage <= 0:
        return None
    scores = [(_segment_score(wish, each, place, quotable, tables, headings, weights), -place, each) for place, each in enumerate(quotable)]
    best_score, _, best = max(scores, key=lambda each: each[:2])
    name_share = sum(weights[word] * strength for word, strength in named.items()) / total
    return Finding(
        passage=passage,
        segments=segments,
        best=best,
        coverage=coverage,
        score=coverage + best_score / total + 0.1 * name_share + 0.1 / (passage.rank + 1),
        named=name_share,
        carried=frozenset(word.text for word, strength in together.items() if strength > 0),
    )


def _segment_score(
    wish: Wish,
    segment: Segment,
    place: int,
    quotable: Sequence[Segment],
    tables: dict[Segment, dict[Word, float]],
    headings: dict[str, dict[Word, float]],
    weights: dict[Word, float],
) -> float:
    own, above = tables[segment], headings[segment.heading]
    near = [tables[each] for each in quotable[max(0, place - 1) : place + 2] if each.block == segment.block]
    score = 0.0
    for word, weight in weights.items():
        around = max((0.35 * table[word] for table in near), default=0.0)
        score += weight * max(own[word], 0.5 * above[word], around)
    if wish.numeric and any(each.isdigit() for each in segment.text):
        score += 0.4
    if segment.kind == "sentence" and len(segment.text) < 25:
        score -= 0.3
    return score - 0.0005 * max(0, len(segment.text) - 300)


def _strengths(weights: dict[Word, float], words: Sequence[Word]) -> dict[Word, float]:
    distinct = {word.stem: word for word in words}.values()
    return {word: best_likeness(word, distinct) for word in weights}
