"""The next reply: the tool calls that are still needed, a question back, a hand-back, or the whole answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from .delegation import Delegation
from .exploring import find_task, next_readings, report
from .phrases import enumerated, phrase, quoted
from .refusals import one_line
from .request import plan_errands
from .researching import next_calls
from .steps import Answer, Call, Errand, Miss, Need, Question, Step
from .talk import Talk
from .teamwork import confirmations, share_out
from .wish import make_wish

MAX_ROUNDS = 6
BUDGET_GONE = "The token budget of this request is used up"
"""How the platform begins to say so."""
MAX_CALLS = 8


@dataclass(frozen=True)
class Say:
    """The turn's answer."""

    text: str


@dataclass(frozen=True)
class Do:
    """Calls to make at once; all of them are offered and fit their schemas."""

    calls: tuple[Call, ...]


Decision = Say | Do


def decide(talk: Talk) -> Decision:
    """What comes next. Depends on the talk alone, makes no call twice, and ends after six rounds of calls."""
    if BUDGET_GONE in talk.instructions:
        return _last_word(talk)
    if task := find_task(talk):
        readings = _fresh(next_readings(task, talk), talk)
        return Do(readings) if readings and talk.now.rounds < MAX_ROUNDS else Say(report(task, talk))
    if "subagent" in talk.offers and "emit_autorag_results" in talk.offers:
        return _research(talk)
    errands = plan_errands(talk)
    steps = [errand.advance(talk) for errand in errands]
    question = next((each for each in steps if isinstance(each, Question)), None)
    if question:
        return _ask(question, talk)
    needed = [call for step in steps if isinstance(step, Need) for call in step.calls]
    calls = share_out(errands, talk) or _fresh(needed, talk) or _fresh(confirmations(errands, steps, talk), talk)
    if calls and talk.now.rounds < MAX_ROUNDS:
        return Do(calls)
    if hand_back := _hand_back(steps, talk):
        return Do((hand_back,))
    return Say(_compose(errands, steps, talk))


def _last_word(talk: Talk) -> Decision:
    """What was found so far, and plainly that nothing more could be looked up (J-13): silence is not “nothing found”."""
    steps = [each.advance(talk) for each in plan_errands(talk)]
    found = "\n\n".join(f"{step.label}\n\n{step.text}".strip() for step in steps if isinstance(step, Answer))
    known = found or phrase(talk.language, "nothing_yet")
    return Say(phrase(talk.language, "budget_gone", known=known, asked=one_line(talk.now.asked, 200)))


def _research(talk: Talk) -> Decision:
    calls = _fresh(next_calls(talk), talk)
    if calls and talk.now.rounds < MAX_ROUNDS:
        return Do(calls)
    words = make_wish(talk.now.asked, talk.language).subject or talk.now.asked
    return Say(phrase(talk.language, "nothing_found_short", words=quoted(talk.language, one_line(words, 100))))


def _ask(question: Question, talk: Talk) -> Decision:
    options = list(dict.fromkeys(question.options))
    arguments = talk.offers.fit("ask_clarifying_question", question=question.text, options=options, allowFreeText=True)
    if arguments is not None and talk.result_of("ask_clarifying_question", arguments) is None:
        return Do((Call("ask_clarifying_question", arguments),))
    listed = "\n".join(f"- {each}" for each in options)
    return Say(phrase(talk.language, "options_in_text", question=question.text, options=listed) if options else question.text)


def _fresh(wanted: Sequence[Call], talk: Talk) -> tuple[Call, ...]:
    calls: list[Call] = []
    for call in wanted:
        if call not in calls and talk.result_of(call.tool, call.arguments) is None:
            calls.append(call)
    return tuple(calls[:MAX_CALLS])


def _hand_back(steps: Sequence[Step], talk: Talk) -> Call | None:
    """A child that found nothing at all gives the question back to its caller (J-22 to J-24)."""
    if not all(isinstance(each, Miss) for each in steps):
        return None
    established = " ".join(dict.fromkeys(each.established for each in steps if isinstance(each, Miss) and each.established))
    arguments = talk.offers.fit(
        "hand_back", whatIsNeeded=one_line(talk.now.asked, 500), whatIEstablished=established or "nothing"
    )
    return Call("hand_back", arguments) if arguments and not talk.result_of("hand_back", arguments) else None


def _compose(errands: Sequence[Errand], steps: Sequence[Step], talk: Talk) -> str:
    parts: list[str] = []
    said: dict[str, str] = {}
    for errand, step in zip(errands, steps, strict=True):
        label, text = _told(errand, step, talk, alone=len(steps) == 1)
        if text in said and isinstance(errand, Delegation):
            text = phrase(talk.language, "same_as", name=errand.candidates[0].name)
            label = ""
        said.setdefault(text, label)
        parts.append(f"{label}\n\n{text}" if label else text)
    if all(isinstance(each, Miss) and not each.final for each in steps) and not talk.is_child:
        parts.append(_closing(talk))
    return "\n\n".join(part for part in parts if part)


def _told(errand: Errand, step: Step, talk: Talk, *, alone: bool) -> tuple[str, str]:
    wish = getattr(errand, "wish", None)
    heading = "" if alone or wish is None else f"**{one_line(wish.text, 100)}**"
    if isinstance(step, Answer):
        return step.label or heading, step.text
    if isinstance(step, Miss):
        return heading, step.text
    return heading, phrase(talk.language, "refused", reason=phrase(talk.language, "unanswered"))


def _closing(talk: Talk) -> str:
    lines = [phrase(talk.language, "general_knowledge")]
    if talk.offers.delegates:
        names = enumerated(talk.language, [f"`@{each.slug}`" for each in talk.offers.delegates])
        lines.insert(0, phrase(talk.language, "address_one", names=names))
    return " ".join(lines)
