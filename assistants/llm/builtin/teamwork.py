"""A request shared out to several assistants: a plan first, all of them at once, and each step confirmed by what came back."""

from collections.abc import Sequence
from itertools import dropwhile, takewhile
from typing import Any

from .delegation import Delegation
from .phrases import phrase
from .refusals import one_line
from .steps import Answer, Call, Errand, Step
from .talk import Talk

LONGEST = 400
"""Characters of a step's description and of the evidence for it."""


def share_out(errands: Sequence[Errand], talk: Talk) -> tuple[Call, ...]:
    """The calls that open a piece of teamwork, or nothing if it is none: the plan, then the fan-out (J-03, J-15).

    Whatever was refused is not tried again: the errands then delegate one by one.
    """
    parts = _parts(errands, talk)
    if parts and talk.lacks_plan() and not talk.called("write_plan") and (plan := _plan(parts, talk)):
        return (plan,)
    if len(parts) < 2 or "spawn_agents" not in talk.offers or talk.called("spawn_agents") or talk.called("invoke_assistant"):
        return ()
    plan = _plan(parts, talk)
    if plan and not talk.called("write_plan"):
        return (plan,)
    arguments = talk.offers.fit("spawn_agents", tasks=[task for _, task in parts])
    return (Call("spawn_agents", arguments),) if arguments else ()


def confirmations(errands: Sequence[Errand], steps: Sequence[Step], talk: Talk) -> tuple[Call, ...]:
    """For each step of the plan whose report is there: its check, with the words that fulfil it (decision 6)."""
    written = next((each for each in talk.now.results if each.tool == "write_plan" and not each.refusal), None)
    if written is None:
        return ()
    planned = [each.get("description") for each in written.arguments.get("steps", ())]
    calls = []
    for errand, step in zip(errands, steps, strict=True):
        if not isinstance(errand, Delegation) or not isinstance(step, Answer):
            continue
        description = one_line(errand.wish.text, LONGEST)
        if description in planned:
            arguments = talk.offers.fit("confirm_step", index=planned.index(description) + 1, evidence=_evidence(step.text))
            calls += [Call("confirm_step", arguments)] if arguments else []
    return tuple(calls)


def _parts(errands: Sequence[Errand], talk: Talk) -> list[tuple[Delegation, dict[str, Any]]]:
    """Who is asked what, as the items of a fan-out; the same wish for the same assistant only once."""
    parts: list[tuple[Delegation, dict[str, Any]]] = []
    for errand in errands:
        opening = errand.opening(talk) if isinstance(errand, Delegation) else None
        if isinstance(errand, Delegation) and opening and opening not in [task for _, task in parts]:
            parts.append((errand, opening))
    return parts


def _plan(parts: Sequence[tuple[Delegation, dict[str, Any]]], talk: Talk) -> Call | None:
    steps = [
        {
            "description": one_line(errand.wish.text, LONGEST),
            "specialist": task["assistant"],
            "check": phrase(talk.language, "plan_check"),
        }
        for errand, task in parts
    ]
    arguments = talk.offers.fit("write_plan", steps=steps)
    return Call("write_plan", arguments) if arguments else None


def _evidence(report: str) -> str:
    """The first quote of a report as plain words, else its first line; of a table the first row below its head."""
    lines = [line.strip() for line in report.splitlines()]
    quoted = [line.lstrip("> ").strip() for line in takewhile(_is_quoted, dropwhile(lambda line: not _is_quoted(line), lines))]
    rows = [line for line in quoted if line.startswith("|") and not set(line) <= set("|-: ")]
    if rows:
        return one_line(" · ".join(cell.strip() for cell in rows[-1].strip("|").split("|")), LONGEST)
    words = " ".join(quoted) or next((line for line in lines if line), "—")
    return one_line(words.replace("**", ""), LONGEST)


def _is_quoted(line: str) -> bool:
    return line.startswith(">")
