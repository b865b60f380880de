"""Puts the hits of several methods together into one order (A-37)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

FURTHER_HITS = 3
FURTHER_WEIGHT = 0.15
MOST_BONUS = 0.3
MOST_PREFERENCE = 0.25
# Scores that differ by less came out of the arithmetic, not out of the documents.
DIGITS = 9


@dataclass(frozen=True)
class Hit:
    """A passage that a method found. `source` is `<root name>/<path>`, or another exact name; `score` is the method's own.

    `place` says where in the source, such as `page 3, lines 40-52`.
    """

    source: str
    place: str
    excerpt: str
    score: float
    method: str
    title: str = ""


@dataclass(frozen=True)
class Merged:
    """A source with its hits, the best first, and the methods that found it. `score` is between -0.25 and 1.25."""

    source: str
    score: float
    hits: tuple[Hit, ...]
    methods: tuple[str, ...]

    @property
    def best(self) -> Hit:
        return self.hits[0]


def merge(
    found: Mapping[str, Sequence[Hit]], *, limit: int | None = None, preferences: Mapping[str, float] | None = None
) -> tuple[Merged, ...]:
    """One order over all methods' hits, the same for the same hits in whatever order they come.

    Scores are spread over 0 to 1 for each method by itself (a single one becomes 1). A source counts as much as its best
    hit, and a little more for up to three others, which count less and less. These are spread over 0 to 1 again. Then
    `preferences` (by source, -1 to 1) move each by at most 0.25.
    """
    groups: dict[str, list[tuple[float, Hit]]] = {}
    for hits in found.values():
        for score, hit in zip(normalized([hit.score for hit in hits]), hits, strict=True):
            groups.setdefault(hit.source, []).append((score, hit))
    ranked = {source: sorted(group, key=_order) for source, group in groups.items()}
    sources = sorted(ranked)
    scores = normalized([_strength([score for score, _ in ranked[source]]) for source in sources])
    merged = [
        Merged(
            source=source,
            score=round(score + MOST_PREFERENCE * _bounded((preferences or {}).get(source, 0.0)), DIGITS),
            hits=_distinct(hit for _, hit in ranked[source])[: 1 + FURTHER_HITS],
            methods=tuple(sorted({hit.method for _, hit in ranked[source]})),
        )
        for source, score in zip(sources, scores, strict=True)
    ]
    return tuple(sorted(merged, key=lambda each: (-each.score, each.source))[:limit])


def normalized(scores: Sequence[float]) -> list[float]:
    """Spread over 0 to 1 by the lowest and the highest; all 1 where there is no difference."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _strength(scores: Sequence[float]) -> float:
    """The best score and the bonus for further ones; the scores come in falling order."""
    further = scores[1 : 1 + FURTHER_HITS]
    bonus = sum(FURTHER_WEIGHT * score / place for place, score in enumerate(further, 1))
    return scores[0] + min(bonus, MOST_BONUS)


def _order(scored: tuple[float, Hit]) -> tuple[float, str, str, str]:
    score, hit = scored
    return -score, hit.method, hit.place, hit.excerpt


def _distinct(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Two methods may have found the same passage: it is shown once."""
    return tuple({(hit.place, hit.excerpt): hit for hit in reversed(list(hits))}.values())[::-1]


def _bounded(preference: float) -> float:
    return max(-1.0, min(1.0, preference))
