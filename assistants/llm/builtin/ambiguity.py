"""The readings of a short request: the documents that it may mean, as options to choose from."""

import re
from collections.abc import Sequence

from .findings import Finding
from .wish import Wish
from .words import best_likeness, strong, words_of

MAX_OPTIONS = 6
OPTION_LENGTH = 100


def ambiguous_documents(wish: Wish, findings: Sequence[Finding]) -> tuple[str, ...]:
    """2 to 6 options if the request is short and several documents carry all of it alike; else none."""
    words = strong(wish.words)
    if not words or len(words) > 2 or wish.background or wish.documents or wish.everything:
        return ()
    bests: dict[str, Finding] = {}
    for finding in findings:
        bests.setdefault(finding.passage.document, finding)
    contenders = [each for each in bests.values() if each.coverage >= 0.9 * findings[0].coverage]
    if wish.asking:
        # A question is answered from all of them, unless each of many is about the very thing.
        contenders = [each for each in contenders if _is_about(wish, each)]
    if len(contenders) < (3 if wish.asking else 2) or _dominated(wish, contenders):
        return ()
    options = tuple(dict.fromkeys(_option(each) for each in contenders))[:MAX_OPTIONS]
    return options if len(options) > 1 else ()


def _dominated(wish: Wish, contenders: Sequence[Finding]) -> bool:
    """One document whose own name says it all, while no other's does, is meant."""
    named = [each for each in contenders if _is_named(wish, each)]
    return len(named) == 1


def _is_about(wish: Wish, finding: Finding) -> bool:
    above = words_of(f"{finding.passage.name} {finding.passage.title} {finding.best.heading}")
    return all(best_likeness(word, above) >= 0.7 for word in strong(wish.words))


def _is_named(wish: Wish, finding: Finding) -> bool:
    name = words_of(finding.passage.name)
    return all(best_likeness(word, name) >= 0.7 for word in strong(wish.words))


def _option(finding: Finding) -> str:
    document = finding.passage.document
    # The product names a passage “document › section”: which document is meant is the question.
    title, _, section = finding.passage.title.partition(" › ")
    names = (title if section else finding.best.heading, title, finding.passage.name)
    heading = next((each for each in names if re.search(r"[^\W\d_]{3}", each)), document)
    heading = " ".join(re.sub(r"[*_`#<>()\[\]\x00-\x1f]", " ", heading).split())
    room = OPTION_LENGTH - len(document) - 3
    if room < 8:
        return document
    shown = heading if len(heading) <= room else heading[: room - 1].rstrip() + "…"
    return f"{shown or finding.passage.name} ({document})"
