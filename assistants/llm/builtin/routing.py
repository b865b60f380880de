"""Who a request belongs to, by the words that it shares with each assistant's own description."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .offers import Delegate
from .words import Word, best_likeness, content_words, fold, strong, words_of

CLEAR_LEAD = 1.4
"""How many times the second-best score makes the best one the only reading."""
ENOUGH = 0.55
"""The lowest score that is more than an accident: one telling word, or two that several share."""

_GENERALIST = re.compile(
    r"\b(document|search|look\w* up|research|find|dokument|such|recherch|nachschlag|quote|zitier)", re.IGNORECASE
)


@dataclass(frozen=True)
class Route:
    """One assistant with how well the request fits it; `shared` are the request's words found in its description."""

    delegate: Delegate
    score: float
    shared: tuple[str, ...]


def rank_routes(words: Sequence[Word], delegates: Sequence[Delegate], language: str) -> list[Route]:
    """All assistants that share a word with the request, best first. A word that all of them use counts little."""
    profiles = [_profile(each, language) for each in delegates]
    likenesses = [[_likeness(word, profile) for profile in profiles] for word in words]
    routes = []
    for place, delegate in enumerate(delegates):
        score, shared = 0.0, []
        for word, row in zip(words, likenesses, strict=True):
            users = sum(1 for each in row if each > 0)
            if row[place] > 0:
                rarity = math.log(1 + len(delegates) / users) / math.log(1 + len(delegates))
                score += row[place] * rarity * word.weight
                shared.append(word.text)
        if score > 0:
            routes.append(Route(delegate, round(score, 6), tuple(shared)))
    return sorted(routes, key=lambda route: -route.score)


def choose_routes(routes: Sequence[Route]) -> tuple[Route, ...]:
    """None if nobody fits, one if it is clear, or all near-equal ones."""
    if not routes or routes[0].score < ENOUGH:
        return ()
    near = tuple(each for each in routes if each.score * CLEAR_LEAD > routes[0].score and each.score >= ENOUGH)
    return near[:6]


def generalists(delegates: Sequence[Delegate]) -> tuple[Delegate, ...]:
    """Those whose description says that they look things up."""
    return tuple(each for each in delegates if _GENERALIST.search(each.description))


def find_mentions(text: str, delegates: Sequence[Delegate]) -> tuple[tuple[Delegate, str], ...]:
    """Who is addressed by @name, @slug or “ask name …”, each with the part of the text meant for it."""
    spots = sorted((spot for each in delegates if (spot := _spot(text, each))), key=lambda spot: spot[0])
    opening = text[: spots[0][0]].strip(" ,:;-–—\n") if spots else ""
    found = []
    for place, (_, end, delegate) in enumerate(spots):
        until = spots[place + 1][0] if place + 1 < len(spots) else len(text)
        own = re.sub(r"\s+(?:and|und)\s*$", "", text[end:until].strip(" ,:;-–—\n"))
        found.append((delegate, " ".join(filter(None, (opening, own)))))
    whole = next((task for _, task in reversed(found) if task), "")
    return tuple((delegate, task or whole) for delegate, task in found)


def unknown_mention(text: str, delegates: Sequence[Delegate]) -> str:
    """The first @name that nobody has, or empty."""
    for found in re.finditer(r"(?<![\w@.])@([\w-]{2,40})", text):
        if not any(_spot(found.group(), each) for each in delegates) and not find_mentions(text, delegates):
            return found[1]
    return ""


def _profile(delegate: Delegate, language: str) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    names = words_of(f"{delegate.name} {delegate.slug.replace('-', ' ').replace('_', ' ')}")
    return names, strong(content_words(delegate.description, language)) or words_of(delegate.description)


def _likeness(word: Word, profile: tuple[tuple[Word, ...], tuple[Word, ...]]) -> float:
    names, description = profile
    return max(1.2 * best_likeness(word, names), best_likeness(word, description))


def _spot(text: str, delegate: Delegate) -> tuple[int, int, Delegate] | None:
    """Where the assistant is addressed. Compared folded, which keeps every position for the letters of both languages."""
    names = {delegate.slug, delegate.name, delegate.name.replace(" ", ""), delegate.name.replace(" ", "-")}
    first = fold(delegate.name).split(" ")[0]
    alternatives = "|".join(re.escape(fold(each)) for each in sorted(names, key=len, reverse=True) if each)
    address = (
        rf"(?<![\w@.])@(?:{alternatives}|{re.escape(first)})(?![\w-])" if first else rf"(?<![\w@.])@(?:{alternatives})(?![\w-])"
    )
    asking = (
        rf"\A\s*(?:please |bitte )?(?:ask|frag|frage|tell) (?:the |das |die |den |team )?(?:{alternatives})(?![\w-])"
        r"(?:[ -]?(?:assistant|agent|team|assistenz))?"
    )
    for pattern in (address, asking):
        if found := re.search(pattern, _same_length(text)):
            return found.start(), found.end(), delegate
    return None


def _same_length(text: str) -> str:
    return "".join(fold(each)[:1] or " " if len(fold(each)) != 1 else fold(each) for each in text)
