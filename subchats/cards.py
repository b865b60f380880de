"""What a delegation's preview card shows, read from the record so that a reload draws the same card."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from assistants import clock
from assistants.conversations.overview import waiting_calls
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.definition import definition_of
from assistants.turns import live
from assistants.turns.calls import QUESTION_TOOL
from subchats.delegation.deliver import CUT_OFF
from subchats.models import Delegation

LAST_LINE_CHARS = 240
CODED_LINE = re.compile(r"\[([A-Z_]+)\] field=.* fix=.*\n")
WORDS = ("", "", _("Two"), _("Three"), _("Four"), _("Five"), _("Six"), _("Seven"), _("Eight"))


@dataclass(frozen=True)
class Row:
    """A sub-chat below the card's own, as one small line."""

    name: str
    state: str
    chat_id: str


@dataclass(frozen=True)
class Progress:
    """How far the sub-chats of one call are together; `word` is their number in words, `since` is empty once all are back."""

    element: str
    total: int
    word: Any
    back: int
    since: Any
    seconds: int


@dataclass(frozen=True)
class Usage:
    """What a sub-chat and everything below it has used so far; `steps` are its own model calls."""

    tokens: int
    cost: Decimal
    seconds: int
    steps: int


def card_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card of `invoke_assistant` or `spawn_agent` shows. A refused call has no child."""
    delegation = _delegations(call).first()
    if delegation is None:
        return _without_child(call, [call.arguments])
    return {"element": f"c{call.pk.hex}", "delegation": delegation, **child_context(delegation)}


def lanes_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card of `spawn_agents` shows: how far they are together, and a card for each (J-11)."""
    delegations = list(_delegations(call))
    if not delegations:
        tasks = call.arguments.get("tasks")
        return {"lanes": [], **_without_child(call, [each for each in tasks or [] if isinstance(each, dict)])}
    return {"lanes": [_lane(call, each) for each in delegations], "fan_out": _progress(call, delegations)}


def lane_pieces(call: ToolCall) -> list[tuple[str, dict[str, Any]]]:
    """The parts of a fan-out's card that change by themselves, each drawn alone: its heading and its lanes."""
    seen = lanes_context(call)
    lanes = [("subchats/card.html", lane) for lane in seen["lanes"]]
    return [("subchats/lanes_head.html", {"fan_out": seen["fan_out"]}), *lanes] if lanes else []


def _delegations(call: ToolCall) -> QuerySet[Delegation]:
    return Delegation.objects.select_related("child__assistant", "child__tenant").filter(call=call).order_by("position")


def _without_child(call: ToolCall, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """A call that opened nothing: who was asked for what and, once it was refused, why not."""
    names = [str(each.get("assistant") or _("Ad-hoc agent")) for each in tasks]
    code, why = refusal_in(call)
    return {
        "element": f"c{call.pk.hex}",
        "delegation": None,
        "child": None,
        "name": ", ".join(names) or call.name,
        "task": " · ".join(str(each.get("task", "")) for each in tasks),
        "state": "queued" if call.is_open else "stopped" if call.outcome == ToolCall.Outcome.STOPPED else "refused",
        "code": code,
        "error": why,
    }


def refusal_in(call: ToolCall) -> tuple[str, str]:
    """The refusal's code and its sentence; the line that is meant for a model is left out."""
    found = CODED_LINE.match(call.result)
    return (found[1], call.result[found.end() :]) if found else ("", call.result)


def _lane(call: ToolCall, delegation: Delegation) -> dict[str, Any]:
    own_words = not " ".join(delegation.task.split()).startswith(delegation.label.rstrip("…"))
    return {
        "element": f"c{call.pk.hex}-{delegation.position}",
        "lane": True,
        "delegation": delegation,
        "label": delegation.label if own_words else "",
        **child_context(delegation),
    }


def _progress(call: ToolCall, delegations: list[Delegation]) -> Progress:
    total = len(delegations)
    return Progress(
        element=f"c{call.pk.hex}-head",
        total=total,
        word=WORDS[total] if total < len(WORDS) else str(total),
        back=sum(each.returned_at is not None for each in delegations),
        since="" if call.settled else call.started or call.turn.created,
        seconds=max(int(((call.settled or clock.now()) - (call.started or call.turn.created)).total_seconds()), 0),
    )


def calls_at_work(thread: Thread) -> list[ToolCall]:
    """The thread's delegations whose sub-chat works although its report was given: continued, or run again (D2)."""
    again = Turn.objects.active().values("thread__delegation__call")
    found = ToolCall.objects.filter(turn__thread=thread, pk__in=again).exclude(state=ToolCall.State.OPEN)
    return list(found.select_related("turn__thread", "message"))


def child_context(delegation: Delegation) -> dict[str, Any]:
    """The state and the figures of one sub-chat."""
    child = delegation.child
    definition = definition_of(child)
    turn = child.turns.order_by("-pk").first()
    questions = questions_below(child)
    state = state_of(delegation, turn, questions)
    calls = ToolCall.objects.filter(turn__thread=child)
    usage = usage_of(child, turn)
    return {
        "child": child,
        "name": definition.name,
        "avatar": definition.avatar,
        "state": state,
        "task": delegation.task,
        "last_line": last_line(child),
        "tool": tool_in_use(child) if state == "running" else "",
        "tools": calls.exclude(started=None).count(),
        "steps": usage.steps,
        "tokens": usage.tokens,
        "cost": usage.cost,
        "seconds": usage.seconds,
        "hand_back": delegation.hand_back,
        "error": turn.note if turn and state in ("cut_off", "failed", "stopped", "paused") else "",
        "nested": nested_rows(child),
        "questions": questions,
        "approvals": approvals_below(child),
        "can_send_back": can_send_back(delegation, turn),
        "last_turn": turn,
    }


def state_of(delegation: Delegation, turn: Turn | None, questions: list[ToolCall]) -> str:
    """One of queued, running, waiting (for a person, also below), paused, reported, handed_back, cut_off, failed, stopped."""
    if turn is None or turn.state == Turn.State.QUEUED:
        return "queued"
    if questions or turn.calls.for_a_person().exists():
        return "waiting"
    if turn.state in (Turn.State.THINKING, Turn.State.ACTING, Turn.State.WAITING):
        return "running"
    if turn.state == Turn.State.DONE:
        return "handed_back" if turn.reason == "hand_back" else "reported"
    return "cut_off" if turn.reason in CUT_OFF else str(turn.state)


def last_line(child: Thread) -> str:
    """The newest line that the sub-chat has written, from the growing reply if there is one."""
    growing = live.current(child.pk)
    text = growing.text if growing else ""
    if not text.strip():
        replies = Message.objects.filter(thread=child, role=Message.Role.ASSISTANT).order_by("-sequence")[:5]
        text = next((reply.text for reply in replies if reply.text.strip()), "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if len(lines[-1]) <= LAST_LINE_CHARS else "…" + lines[-1][-LAST_LINE_CHARS:]


def tool_in_use(child: Thread) -> str:
    """The name of the tool that runs in the sub-chat now."""
    call = ToolCall.objects.filter(turn__thread=child, state=ToolCall.State.OPEN).order_by("-started").first()
    return call.name if call else ""


def usage_of(child: Thread, turn: Turn | None) -> Usage:
    """Tokens and cost of the child and all below it (D22: the tree's total is the sum of its nodes); time and steps of its
    own."""
    total = Turn.objects.filter(_in_tree(child, "thread")).aggregate(
        into=Sum("input_tokens"),
        out=Sum("output_tokens"),
        cost=Sum("cost"),
        steps=Sum("model_calls", filter=Q(thread=child)),
    )
    started = turn and (turn.started or turn.created)
    seconds = int(((turn.finished or clock.now()) - started).total_seconds()) if turn and started else 0
    tokens = (total["into"] or 0) + (total["out"] or 0)
    return Usage(tokens, total["cost"] or Decimal(0), max(seconds, 0), total["steps"] or 0)


def approvals_below(child: Thread) -> list[ToolCall]:
    """The calls of the sub-chat, and of all below it, that wait for a person's approval (D8)."""
    return list(ToolCall.objects.asked().filter(_in_tree(child, "turn__thread")).select_related("turn__thread"))


def questions_below(child: Thread) -> list[ToolCall]:
    """The questions of the sub-chat, and of all below it, that wait for the person's answer (decision 7)."""
    asked = waiting_calls().filter(_in_tree(child, "turn__thread"), name=QUESTION_TOOL, state=ToolCall.State.SETTLED)
    return list(asked.select_related("turn__thread__assistant"))


def _in_tree(child: Thread, field: str) -> Q:
    """That the thread in this field is the sub-chat or one below it: its id holds the ids of all above it."""
    below = Q(**{f"{field}__chat_id__contains": f"_{child.chat_id}_", f"{field}__root": child.root_id})
    return Q(**{field: child}) | below


def nested_rows(child: Thread) -> list[Row]:
    """The sub-chats directly below, with their states."""
    delegations = Delegation.objects.filter(child__parent=child).select_related("child__assistant").order_by("pk")
    rows = []
    for delegation in delegations:
        turn = delegation.child.turns.order_by("-pk").first()
        state = state_of(delegation, turn, questions_below(delegation.child))
        rows.append(Row(definition_of(delegation.child).name, state, delegation.child.chat_id))
    return rows


def can_send_back(delegation: Delegation, turn: Turn | None) -> bool:
    """Whether the sub-chat has a result that its parent has not been given."""
    if turn is None or turn.state != Turn.State.DONE or delegation.returned_at is None:
        return False
    return bool(turn.finished and turn.finished > delegation.returned_at and turn.pk > delegation.sent_turn)
