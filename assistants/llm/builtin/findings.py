"""How well passages answer a wish: which words they carry, and which sentence carries most of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .figures import is_amount, stated_figure
from .kinds import gives_kind
from .passages import Passage
from .segments import Segment, cut_segments
from .wish import Wish
from .words import Word, bag_of, likeness, parts_of

GOOD = 0.6
"""The share of the wish's words from which on a passage counts as an answer."""
FAIR = 0.45
"""The share that is enough if at least two telling words are among it."""
FAINT = 0.3
"""The share below which a passage is not worth showing."""
AS_MUCH, AS_WELL = 0.95, 2 / 3
"""The shares of the best one's coverage and of its score from which on another stands beside it."""
CARRIED_WEIGHT = 0.4
"""What a word counts that was taken over from an earlier question."""
STATED_FIGURE = 0.6
"""What a figure of the wanted kind adds to a segment's score."""

GIVEN_KIND = 0.8
"""What it adds that a segment looks like an answer of the wanted kind."""
ONE_OF_MANY = 0.8
"""What it adds, where all of something are asked for, that a segment is a row or an item of it."""

Strengths = Mapping[Word, float]


@dataclass(frozen=True)
class Finding:
    """One passage with its best segment. `coverage` (0..1) is the share of the wish's words that it carries;
    `by_heading` says that the segment itself has none of them, only what stands over it; `alike` are the rows or items
    beside it that carry the very same words."""

    passage: Passage
    segments: tuple[Segment, ...]
    best: Segment
    coverage: float
    score: float
    by_heading: bool
    telling: int
    carried: frozenset[str] = field(default_factory=frozenset)
    alike: tuple[Segment, ...] = ()

    @property
    def good(self) -> bool:
        """Whether the passage counts as an answer."""
        return self.coverage >= GOOD or (self.coverage >= FAIR and self.telling > 1)


@dataclass(frozen=True)
class Scale:
    """How strongly every text carries every word of the wish (0..1), and how much each word tells; `telling` are those
    that a passage has to carry: the wish's own, and those taken over only if it has none."""

    weights: Strengths
    telling: Strengths
    rarity: Strengths
    texts: Mapping[str, Strengths]


def rank_findings(wish: Wish, passages: Sequence[Passage]) -> tuple[Finding, ...]:
    """The passages that carry anything of the wish, answers first, then the best; equal ones in the search's order."""
    if not wish.searched:
        return ()
    cut = [(passage, cut_segments(passage.text, commented=passage.commented)) for passage in passages]
    scale = _scale(wish, cut)
    findings = [finding for passage, segments in cut if (finding := _finding(wish, passage, segments, scale))]
    return tuple(sorted(findings, key=lambda each: (not each.good, -round(each.score, 4), each.passage.rank, _place(each))))


def spread_out(findings: Sequence[Finding], *, most: int) -> tuple[Finding, ...]:
    """The best findings; as long as there are such, each says something about a word that those before it do not."""
    left, chosen, carried = list(findings), list[Finding](), set[str]()
    while left and len(chosen) < most:
        best = next((each for each in left if each.carried - carried), left[0])
        left.remove(best)
        chosen.append(best)
        carried |= best.carried
    return tuple(chosen)


def beside_best(wish: Wish, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first and those about as good; and for each word that these miss the best that carries it, if it carries a fair
    part."""
    if not findings:
        return ()
    best = findings[0]
    chosen = [
        each
        for each in findings
        if each.coverage >= AS_MUCH * best.coverage
        and each.score >= AS_WELL * best.score
        and (best.by_heading or not each.by_heading)
    ] or [best]
    for word in missing_words(wish, chosen):
        chosen += [each for each in findings if word in each.carried and each.coverage >= FAIR][:1]
    return tuple(dict.fromkeys(chosen))


def is_answered(wish: Wish, findings: Sequence[Finding]) -> bool:
    """Whether one passage answers, or several do together what was asked about several things (“hotels and taxis”)."""
    if not findings or findings[0].good:
        return bool(findings)
    shown = [each for each in findings if each.coverage >= FAIR]
    return wish.joined and len(shown) > 1 and not missing_words(wish, shown)


def missing_words(wish: Wish, findings: Sequence[Finding]) -> tuple[str, ...]:
    """The wish's own telling words that none of the findings carries."""
    carried = {each for finding in findings for each in finding.carried}
    return tuple(word.text for word in wish.words if word.weight >= 1 and word.text not in carried)


def _scale(wish: Wish, cut: Sequence[tuple[Passage, Sequence[Segment]]]) -> Scale:
    own = {word.stem for word in wish.words}
    weights = {word: word.weight * (1.0 if word.stem in own or not own else CARRIED_WEIGHT) for word in wish.searched}
    bags: dict[str, dict[str, Word]] = {}
    for passage, segments in cut:
        for text in [_names(passage)] + [text for each in segments for text in (each.text, each.above, _above(each, passage))]:
            if text not in bags:
                bags[text] = bag_of(text)
    # Every pair of a wanted and a found word is compared once: the texts share most of their words.
    vocabulary = {folded: word for bag in bags.values() for folded, word in bag.items()}
    compared = {each for wanted in weights for each in (wanted, *parts_of(wanted))}
    hits = {
        wanted: {folded: like for folded, word in vocabulary.items() if (like := likeness(wanted, word)) > 0}
        for wanted in compared
    }
    texts = {text: {wanted: _strength(wanted, bag, hits) for wanted in weights} for text, bag in bags.items()}
    counted = [texts[each.text] for _, segments in cut for each in segments]
    rarity = {word: weight * _rarity(word, counted) for word, weight in weights.items()}
    return Scale(weights, _telling(wish, weights), rarity, texts)


def _strength(wanted: Word, bag: Mapping[str, Word], hits: Mapping[Word, Mapping[str, float]]) -> float:
    """How strongly a text carries a word: by the word that is most like it, or by one for each part of a compound."""
    whole, *parts = (
        max((like for folded, like in hits[each].items() if folded in bag), default=0.0) for each in (wanted, *parts_of(wanted))
    )
    return max(whole, sum(parts) / len(parts)) if parts else whole


def _rarity(word: Word, counted: Sequence[Strengths]) -> float:
    """A word that few of all segments carry tells more about the right one: between 0.5 and 1.5."""
    bearers = sum(1 for each in counted if each[word] > 0)
    return 0.5 + math.log(1 + len(counted) / bearers) / math.log(1 + len(counted)) if bearers else 1.0


def _finding(wish: Wish, passage: Passage, segments: Sequence[Segment], scale: Scale) -> Finding | None:
    quotable = [each for each in segments if each.quotable]
    if not quotable:
        return None
    carrying = [scale.texts[text] for each in segments for text in (each.text, _above(each, passage))]
    named = scale.texts[_names(passage)]
    together = {word: max(named[word], *(each[word] for each in carrying)) for word in scale.weights}
    coverage = _share(together, scale.telling)
    if coverage <= 0:
        return None
    best_score, place = max((_segment_score(wish, passage, quotable, place, scale), -place) for place in range(len(quotable)))
    score = best_score / sum(scale.rarity.values()) + 0.3 * coverage
    best = quotable[-place]
    return Finding(
        passage=passage,
        segments=tuple(segments),
        best=best,
        coverage=coverage,
        score=score + 0.1 * _share(named, scale.weights) + 0.1 / (passage.rank + 1),
        by_heading=not any(scale.texts[best.text].values()),
        telling=sum(1 for word in scale.telling if word.weight >= 1 and together[word] > 0),
        carried=frozenset(word.text for word, strength in together.items() if strength > 0),
        alike=_alike(best, quotable, scale),
    )


def _alike(best: Segment, quotable: Sequence[Segment], scale: Scale) -> tuple[Segment, ...]:
    if best.kind not in ("row", "item"):
        return ()
    near = (each for each in quotable if each.kind == best.kind and each.heading == best.heading and each != best)
    return tuple(each for each in near if scale.texts[each.text] == scale.texts[best.text])


def _telling(wish: Wish, weights: Strengths) -> Strengths:
    strong = {word: weight for word, weight in weights.items() if word.weight >= 1}
    own = {word: weight for word, weight in strong.items() if word in wish.words} or strong or weights
    # An amount in a question rarely stands in the answer: 300 euros fall under a rule for 250 to 1,000.
    return {word: weight for word, weight in own.items() if not is_amount(word.folded)} or own


def _segment_score(wish: Wish, passage: Passage, quotable: Sequence[Segment], place: int, scale: Scale) -> float:
    segment = quotable[place]
    own, above = _own(segment, scale), scale.texts[_above(segment, passage)]
    near = [scale.texts[each.text] for each in quotable[max(0, place - 1) : place + 2] if each.block == segment.block]
    inherited = _inherited(scale.telling, above)
    score = 0.0
    rarest = max(scale.rarity, key=lambda word: scale.rarity[word])
    for word, weight in scale.rarity.items():
        best = max(own[word], inherited * above[word], *(0.35 * each[word] for each in near))
        score += weight * (best + 0.2 * own[word] * above[word])
    score += STATED_FIGURE * stated_figure(wish.figure, segment.text)
    if any(own.values()) or any(above.values()):
        score += GIVEN_KIND * gives_kind(wish.kind, segment.text)
        score += ONE_OF_MANY * (wish.every_one and segment.kind in ("row", "item") and max(own[rarest], above[rarest]) > 0)
    if segment.kind == "code" or (segment.kind == "sentence" and len(segment.text) < 25):
        score -= 0.2
    return score - 0.0005 * max(0, len(segment.text) - 300)


def _own(segment: Segment, scale: Scale) -> Strengths:
    """What a segment says by itself; a row of a table says it together with the names of the columns."""
    own = scale.texts[segment.text]
    if segment.kind != "row":
        return own
    columns = scale.texts[segment.above]
    return {word: max(strength, 0.9 * columns[word]) for word, strength in own.items()}


def _inherited(telling: Strengths, above: Strengths) -> float:
    """What a word counts that stands over a segment. A heading that says all of several words is about the question, or
    most of them, while a sentence may use them in passing."""
    said = sum(above[word] >= 0.7 for word in telling)
    if said < len(telling):
        return 0.75 if said > 1 and 3 * said >= 2 * len(telling) else 0.5
    return 0.9 if len(telling) == 1 else 1.05


def _names(passage: Passage) -> str:
    return f"{passage.title} {passage.name}"


def _above(segment: Segment, passage: Passage) -> str:
    return f"{segment.heading or passage.title} {segment.above}"


def _place(finding: Finding) -> tuple[str, int]:
    return finding.passage.document, finding.passage.first_line


def _share(strengths: Strengths, weights: Strengths) -> float:
    return sum(weight * strengths[word] for word, weight in weights.items()) / sum(weights.values())
