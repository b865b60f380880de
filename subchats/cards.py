"""What a delegation's preview card shows, read from the record so that a reload draws the same card."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from assistants import clock
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.definition import definition_of
from assistants.turns import live
from assistants.turns.questions import open_question
from subchats.models import Delegation

LAST_LINE_CHARS = 240


@dataclass(frozen=True)
class Row:
    """A sub-chat below the card's own, as one small line."""

    name: str
    state: str
    chat_id: str


@dataclass(frozen=True)
class Usage:
    """What a sub-chat and everything below it has used so far."""

    tokens: int
    cost: Decimal
    seconds: int


def card_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card of `invoke_assistant` or `spawn_agent` shows. A refused call has no child."""
    delegation = Delegation.objects.select_related("child__assistant", "child__tenant").filter(call=call).first()
    if delegation is None:
        return {
            "delegation": None,
            "child": None,
            "name": call.arguments.get("assistant") or "Ad-hoc agent",
            "task": call.arguments.get("task", ""),
            "state": "queued" if call.is_open else "refused",
            "error": call.result,
        }
    return {"delegation": delegation, **child_context(delegation)}


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
    question = open_question(child)
    state = state_of(delegation, turn, question)
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
        "steps": child.turns.aggregate(calls=Sum("model_calls"))["calls"] or 0,
        "tokens": usage.tokens,
        "cost": usage.cost,
        "seconds": usage.seconds,
        "hand_back": delegation.hand_back,
        "error": turn.note if turn and state in ("failed", "stopped", "paused") else "",
        "nested": nested_rows(child),
        "question": question,
        "can_send_back": can_send_back(delegation, turn),
        "last_turn": turn,
    }


def state_of(delegation: Delegation, turn: Turn | None, question: ToolCall | None) -> str:
    """One of queued, running, waiting, paused, reported, handed_back, failed, stopped."""
    if turn is None or turn.state == Turn.State.QUEUED:
        return "queued"
    if question or turn.calls.filter(needs_decision=True).exists():
        return "waiting"
    if turn.state in (Turn.State.THINKING, Turn.State.ACTING, Turn.State.WAITING):
        return "running"
    if turn.state == Turn.State.DONE:
        return "handed_back" if turn.reason == "hand_back" else "reported"
    return str(turn.state)


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
    """Tokens and cost of the child and all below it (D22: the tree's total is the sum of its nodes); time of its turn."""
    below = [child.pk, *(each.pk for each in descendants(child))]
    total = Turn.objects.filter(thread__in=below).aggregate(
        into=Sum("input_tokens"), out=Sum("output_tokens"), cost=Sum("cost")
    )
    started = turn and (turn.started or turn.created)
    seconds = int(((turn.finished or clock.now()) - started).total_seconds()) if turn and started else 0
    return Usage((total["into"] or 0) + (total["out"] or 0), total["cost"] or Decimal(0), max(seconds, 0))


def descendants(thread: Thread) -> list[Thread]:
    """Every sub-chat below this one."""
    found: list[Thread] = []
    level = list(Thread.objects.filter(parent=thread))
    while level:
        found += level
        level = list(Thread.objects.filter(parent__in=level))
    return found


def nested_rows(child: Thread) -> list[Row]:
    """The sub-chats directly below, with their states."""
    delegations = Delegation.objects.filter(child__parent=child).select_related("child__assistant").order_by("pk")
    rows = []
    for delegation in delegations:
        turn = delegation.child.turns.order_by("-pk").first()
        state = state_of(delegation, turn, open_question(delegation.child))
        rows.append(Row(definition_of(delegation.child).name, state, delegation.child.chat_id))
    return rows


def can_send_back(delegation: Delegation, turn: Turn | None) -> bool:
    """Whether the sub-chat has a result that its parent has not been given."""
    if turn is None or turn.state != Turn.State.DONE or delegation.returned_at is None:
        return False
    return bool(turn.finished and turn.finished > delegation.returned_at and turn.pk > delegation.sent_turn)
