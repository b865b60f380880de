"""A conversation as data, for programs: what was said, what runs, what waits for whom (Q12)."""

from dataclasses import dataclass
from typing import Any

from assistants.models import Message, Thread, ToolCall, Turn
from assistants.turns import live
from assistants.turns.approvals import is_about_arguments
from assistants.turns.calls import open_question
from assistants.turns.outline import end_of_branch, newest
from assistants.turns.questions import question_payload

from .overview import waiting_calls


@dataclass(frozen=True)
class Said:
    """One message of the shown branch; `text` of a growing reply is what is there so far."""

    id: str
    sequence: int
    role: str
    state: str
    text: str


@dataclass(frozen=True)
class Asked:
    """The question at the end; answered by a POST of `option` (any number) and `text` to `question/<call>/`."""

    call: str
    question: str
    options: tuple[str, ...]
    allow_free_text: bool


@dataclass(frozen=True)
class TurnNow:
    """The running turn, else the last one. `note` says in a sentence why it paused or ended."""

    id: int
    state: str
    reason: str
    note: str


@dataclass(frozen=True)
class Queued:
    """A message that waits for the running turn to end; one that `joins` it (steer, interrupt) for its next step."""

    turn: int
    text: str
    joins: str


@dataclass(frozen=True)
class Decision:
    """A call that was cut off and may not be repeated: a POST of `happened` to `call/<call>/decide/` settles it."""

    call: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Approval:
    """A call that runs once a person agrees: a POST of `hash` (and of `argument.<name>` for each argument to change) to
    `call/<call>/approve/` lets it run, one of `words` to `call/<call>/reject/` does not."""

    call: str
    name: str
    arguments: dict[str, Any]
    why: tuple[str, ...]
    hash: str


@dataclass(frozen=True)
class Snapshot:
    """Everything that a page shows, without its looks. `seq` is the number of the newest event it includes."""

    chat_id: str
    title: str
    seq: int
    turn: TurnNow | None
    question: Asked | None
    queued: tuple[Queued, ...]
    decisions: tuple[Decision, ...]
    approvals: tuple[Approval, ...]
    messages: tuple[Said, ...]


def snapshot_of(thread: Thread) -> Snapshot:
    """Reads the conversation as it is now. The caller has asked for the right to read it."""
    turns = list(thread.turns.select_related("user_message").exclude(state__in=Turn.FINAL).order_by("pk"))
    active = next((turn for turn in turns if turn.is_active), None)
    last = active or thread.turns.filter(state__in=Turn.FINAL).order_by("-pk").first()
    decisions = waiting_calls().filter(turn__thread=thread, needs_decision=True)
    return Snapshot(
        chat_id=thread.chat_id,
        title=thread.title,
        seq=thread.last_event,
        turn=TurnNow(last.pk, last.state, last.reason, last.note) if last else None,
        question=_asked(thread),
        queued=tuple(
            Queued(turn.pk, turn.user_message.text if turn.user_message else "", turn.joins)
            for turn in turns
            if turn.state == Turn.State.QUEUED
        ),
        decisions=tuple(Decision(str(call.pk), call.name, call.arguments) for call in decisions),
        approvals=_approvals(thread),
        messages=tuple(_said(thread)),
    )


def _approvals(thread: Thread) -> tuple[Approval, ...]:
    calls = ToolCall.objects.asked().filter(turn__thread=thread)
    return tuple(
        Approval(str(call.pk), call.name, call.arguments, tuple(call.approval["why"]), call.approval["hash"])
        for call in calls
        if call.approval and is_about_arguments(call)
    )


def _asked(thread: Thread) -> Asked | None:
    call = open_question(thread)
    if call is None:
        return None
    payload = question_payload(call)
    return Asked(str(call.pk), payload["question"], tuple(payload["options"]), payload["allowFreeText"])


def _said(thread: Thread) -> list[Said]:
    places = newest(end_of_branch(thread.pk).path).places
    rows = Message.objects.in_bulk([place.pk for place in places])
    growing = live.current(thread.pk)
    said = []
    for place in places:
        message = rows[place.pk]
        text = growing.text if growing and growing.message_id == message.pk else message.text
        said.append(Said(str(message.pk), message.sequence, message.role, message.state, text))
    return said
