"""When a request can't be done as it stands: it says too little, fits several assistants, or wants something written."""

from dataclasses import dataclass

from .offers import Delegate
from .passages import passages_of
from .phrases import phrase
from .reading import Reading
from .refusals import one_line
from .steps import Answer, Errand, Miss, Question, Step
from .talk import Talk
from .words import Word, best_likeness, words_of

MAX_OPTIONS = 6


@dataclass(frozen=True)
class Unclear:
    """A request without a subject: the person is asked what it is about, with the delegates' fields to choose from."""

    def advance(self, talk: Talk) -> Step:
        if options := delegate_options(talk.offers.delegates):
            return Question(phrase(talk.language, "which_help"), options)
        return Answer(phrase(talk.language, "name_a_topic"))


@dataclass(frozen=True)
class Undecided:
    """A request that several assistants fit alike."""

    delegates: tuple[Delegate, ...]

    def advance(self, talk: Talk) -> Step:
        return Question(phrase(talk.language, "which_delegate"), delegate_options(self.delegates))


@dataclass(frozen=True)
class Unable:
    """Something to be written, which only a language model can do; what can be quoted for it is quoted.

    `outlined` are the words of what is to be summarised: a document of that name is shown by its headings.
    """

    errand: Errand | None
    outlined: tuple[Word, ...] = ()

    def advance(self, talk: Talk) -> Step:
        step = self.errand.advance(talk) if self.errand else None
        if self.outlined and isinstance(step, Answer | Miss) and (document := self._document(talk)):
            return Reading(document, mode="outline").advance(talk)
        if isinstance(step, Answer) or (isinstance(step, Miss) and step.near and not talk.is_child):
            return Answer(f"{phrase(talk.language, 'cannot_write')}\n\n{step.text}")
        if step is None or (isinstance(step, Miss) and not talk.is_child):
            return Answer(phrase(talk.language, "cannot_write_alone"))
        return step

    def _document(self, talk: Talk) -> str:
        """The one document found whose own name says all that is to be summarised; empty if there is none."""
        passages = passages_of(each for each in talk.now.results if each.tool == "search_documents")
        names = {each.document: words_of(each.name) for each in passages}
        named = [
            document for document, name in names.items() if all(best_likeness(word, name) >= 0.7 for word in self.outlined)
        ]
        return named[0] if len(named) == 1 else ""


def delegate_option(delegate: Delegate) -> str:
    """The option that stands for a delegate: its name with what it does."""
    return one_line(f"{delegate.name}: {delegate.description}".rstrip(": "), 110)


def delegate_options(delegates: tuple[Delegate, ...]) -> tuple[str, ...]:
    """2 to 6 options for these delegates; none if there are too few."""
    options = tuple(dict.fromkeys(delegate_option(each) for each in delegates[:MAX_OPTIONS]))
    return options if len(options) > 1 else ()
