"""When a request can't be done as it stands: it says too little, fits several assistants, or wants something written."""

from dataclasses import dataclass

from .offers import Delegate
from .phrases import phrase
from .refusals import one_line
from .steps import Answer, Errand, Miss, Question, Step
from .talk import Talk

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
    """Something to be written, which only a language model can do; what can be quoted for it is quoted."""

    errand: Errand | None

    def advance(self, talk: Talk) -> Step:
        step = self.errand.advance(talk) if self.errand else None
        if isinstance(step, Answer) or (isinstance(step, Miss) and step.near and not talk.is_child):
            return Answer(f"{phrase(talk.language, 'cannot_write')}\n\n{step.text}")
        if step is None or (isinstance(step, Miss) and not talk.is_child):
            return Answer(phrase(talk.language, "cannot_write_alone"))
        return step


def delegate_option(delegate: Delegate) -> str:
    """The option that stands for a delegate: its name with what it does."""
    return one_line(f"{delegate.name}: {delegate.description}".rstrip(": "), 110)


def delegate_options(delegates: tuple[Delegate, ...]) -> tuple[str, ...]:
    """2 to 6 options for these delegates; none if there are too few."""
    options = tuple(dict.fromkeys(delegate_option(each) for each in delegates[:MAX_OPTIONS]))
    return options if len(options) > 1 else ()
