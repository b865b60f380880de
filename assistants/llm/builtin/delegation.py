"""Handing a wish to another assistant, to the next one if it comes back, and to a helper made for one task."""

from collections.abc import Sequence
from dataclasses import dataclass

from .lookup import Lookup
from .offers import Delegate
from .phrases import phrase, quoted
from .reports import Report, read_report, render_failure, render_report
from .steps import Answer, Call, Miss, Need, Step
from .talk import Talk
from .wish import Wish, as_task

MAX_ATTEMPTS = 2
HELPER_TOOLS = ("search_documents", "read_document", "calculate", "current_time")


@dataclass(frozen=True)
class Delegation:
    """One wish for the first of `candidates`; the others are asked if it hands back or fails (J-20)."""

    wish: Wish
    candidates: tuple[Delegate, ...]
    facts: tuple[str, ...] = ()
    shared_out: bool = False

    def opening(self, talk: Talk) -> dict[str, object] | None:
        """Who is asked first, and what; None if nobody can be."""
        options = (self._arguments(talk, delegate, ()) for delegate in self.candidates)
        return next((each for each in options if each is not None), None)

    def advance(self, talk: Talk) -> Step:
        tried: list[Report] = []
        waiting = list(self.candidates)
        while waiting and len(tried) < MAX_ATTEMPTS:
            delegate = waiting.pop(0)
            arguments = self._arguments(talk, delegate, tried)
            if arguments is None:
                continue
            result = talk.result_of("invoke_assistant", arguments)
            if result is None:
                return Need((Call("invoke_assistant", arguments),))
            report = read_report(result, delegate.name, talk.language)
            if report.answers:
                return self._answer(talk, report)
            tried.append(report)
            waiting = _owner_first(report, waiting, talk)
        return _look_oneself(self.wish, talk, tried)

    def _arguments(self, talk: Talk, delegate: Delegate, tried: Sequence[Report]) -> dict[str, object] | None:
        facts = []
        if self.facts:
            said = " / ".join(quoted(talk.language, each) for each in self.facts)
            facts = [phrase(talk.language, "context", facts=said)]
        facts += [
            phrase(talk.language, "context_established", name=each.name, established=each.established)
            for each in tried
            if each.established
        ]
        optional = {"context": "\n".join(facts)} if facts else {}
        task = as_task(self.wish, talk.language)
        return talk.offers.fit("invoke_assistant", assistant=delegate.slug, task=task, **optional)

    def _answer(self, talk: Talk, report: Report) -> Answer:
        label, text = render_report(report, talk.language, part=self.wish.text if self.shared_out else "")
        return Answer(text, label)


@dataclass(frozen=True)
class Helper:
    """One wish for an agent that is made for it (T-05), with those of our tools that read documents."""

    wish: Wish

    def advance(self, talk: Talk) -> Step:
        arguments = talk.offers.fit(
            "spawn_agent",
            task=as_task(self.wish, talk.language),
            prompt=phrase(talk.language, "spawn_prompt"),
            tools=[each for each in HELPER_TOOLS if each in talk.offers],
        )
        if arguments is None:
            return Lookup(self.wish).advance(talk)
        result = talk.result_of("spawn_agent", arguments)
        if result is None:
            return Need((Call("spawn_agent", arguments),))
        report = read_report(result, phrase(talk.language, "helper"), talk.language)
        if report.answers:
            label, text = render_report(report, talk.language)
            return Answer(text, label)
        return _look_oneself(self.wish, talk, [report])


def _owner_first(report: Report, waiting: list[Delegate], talk: Talk) -> list[Delegate]:
    owners = [each for each in talk.offers.delegates if report.owner and report.owner in (each.slug, each.name)]
    return owners[:1] + [each for each in waiting if each not in owners]


def _look_oneself(wish: Wish, talk: Talk, tried: Sequence[Report]) -> Step:
    looks = "search_documents" in talk.offers
    notes = "\n\n".join(render_failure(each, talk.language, asked=wish.text, briefly=looks) for each in tried)
    if not looks:
        established = " ".join(each.established for each in tried if each.established)
        return Miss(text=notes or phrase(talk.language, "no_search"), established=established)
    # Whoever handed back has most likely searched the same documents in every way.
    step = Lookup(wish, may_ask=False, rounds=1).advance(talk)
    if isinstance(step, Answer):
        return Answer(f"{notes}\n\n{step.text}".strip())
    if isinstance(step, Miss):
        return Miss(text=f"{notes}\n\n{step.text}".strip(), established=step.established)
    return step
