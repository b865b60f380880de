"""Finds workflows by the words that a task shares with them; asks no model and no search (J-33)."""

from collections.abc import Iterable
from dataclasses import dataclass

from assistants.documents.words import STOP_WORDS, fold, plain_words, stem

from .shape import Workflow

MOST = 5
# Where a word stands says how much it tells.
TITLE, EXEMPLAR, DEFINITION = 3, 2, 1


@dataclass(frozen=True)
class Match:
    """A workflow, how well it fits, and the words that say so. `exact`: the task is one of its exemplars."""

    workflow: Workflow
    score: int
    words: tuple[str, ...]
    exact: bool


def match_workflows(task: str, workflows: Iterable[Workflow]) -> list[Match]:
    """The best candidates: an exact exemplar first, then by shared words; the same words give the same list (J-33)."""
    wanted = telling_words(task)
    found = [match for workflow in workflows if (match := _match(wanted, _plain(task), workflow))]
    return sorted(found, key=lambda each: (not each.exact, -each.score, each.workflow.id))[:MOST]


def telling_words(text: str) -> dict[str, str]:
    """The words that say something, by their stems: without case, accents and endings, English or German."""
    words = [word for word in plain_words(fold(text)) if word not in STOP_WORDS and len(word) > 1]
    return {stem(word): word for word in reversed(words)}


def _match(wanted: dict[str, str], task: str, workflow: Workflow) -> Match | None:
    weights = _weights(workflow)
    shared = [each for each in wanted if each in weights]
    exact = any(_plain(exemplar) == task for exemplar in workflow.exemplars)
    if not shared and not exact:
        return None
    return Match(workflow, sum(weights[each] for each in shared), tuple(sorted(wanted[each] for each in shared)), exact)


def _weights(workflow: Workflow) -> dict[str, int]:
    texts = [(workflow.definition, DEFINITION), *((each, EXEMPLAR) for each in workflow.exemplars), (workflow.title, TITLE)]
    return {word: weight for text, weight in texts for word in telling_words(text)}


def _plain(text: str) -> str:
    return " ".join(plain_words(fold(text)))
