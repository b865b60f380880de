"""Brings conversations in from a file: each whole or not at all, each new, each its bringer's own (Z6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from assistants.access import assistants_for, audit
from assistants.errors import CodedError
from assistants.models import Assistant, Message, StoredTable, Thread, ToolCall, Turn, TurnEvent, User
from assistants.models.thread import new_chat_id, new_child_id
from assistants.signals import unpacking
from assistants.tools.arguments import check_arguments
from assistants.tools.guard.results import screen_result
from assistants.tools.registry import find_tool
from assistants.turns import events
from assistants.turns.calls import add_message
from assistants.turns.lifecycle import announce_thread

from .packed import PackedCall, PackedMessage, PackedTable, PackedThread, PackedTurn, check_thread, read_file

# Where it came from: whatever it brought in, nobody here has read it.
ORIGIN = "import"


@dataclass(frozen=True)
class Skipped:
    """A conversation that was not brought in, by its title or its place in the file, and why."""

    title: str
    error: CodedError


@dataclass(frozen=True)
class Brought:
    """What became of a file: the new conversations, and what was skipped."""

    threads: tuple[Thread, ...]
    skipped: tuple[Skipped, ...]


@dataclass
class Ids:
    """What each thing of the file is called here."""

    threads: dict[str, Thread] = field(default_factory=dict)
    chats: dict[str, str] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    turns: dict[int, Turn] = field(default_factory=dict)
    calls: dict[str, UUID] = field(default_factory=dict)


def bring_in(content: bytes, *, owner: User) -> Brought:
    """Makes a new conversation of the owner's from each in the file, in the state in which it would be read.

    Nothing in it runs: what was open is stopped. Results are read by the guard, and the conversations count as tainted by
    text from outside (D8). One whose assistant the owner may not use here goes to the first that they may. Raises
    `IMPORT_TOO_LARGE`, `IMPORT_UNREADABLE`, `NO_ASSISTANT`.
    """
    usable = list(assistants_for(owner).select_related("tenant").order_by("pk"))
    if not usable:
        raise CodedError(
            code="NO_ASSISTANT", message="There is no assistant that you may use.", fix="Ask an admin to let you in."
        )
    threads: list[Thread] = []
    skipped: list[Skipped] = []
    for number, data in enumerate(read_file(content), start=1):
        try:
            packed = check_thread(data)
            with transaction.atomic():
                threads.append(_bring_one(packed, owner, usable))
        except CodedError as error:
            skipped.append(Skipped(_title_of(data) or f"conversation {number}", error))
        except (DatabaseError, KeyError, ValueError):
            odd = CodedError(code="IMPORT_BAD", field="file", message="It contradicts itself.", fix="Export it again.")
            skipped.append(Skipped(_title_of(data) or f"conversation {number}", odd))
    return Brought(tuple(threads), tuple(skipped))


def _title_of(data: Any) -> str:
    title = data.get("title") if isinstance(data, dict) else ""
    return title[:200] if isinstance(title, str) else ""


def _bring_one(packed: PackedThread, owner: User, usable: Sequence[Assistant]) -> Thread:
    ids = Ids()
    assistant = next((each for each in usable if each.slug == packed.assistant), usable[0])
    thread = _unpack(packed, ids, owner=owner, assistant=assistant, above=None, usable=usable)
    audit("import", tenant_id=thread.tenant_id, user=owner, target=thread.chat_id, threads=len(ids.threads))
    announce_thread(thread)
    return thread


def _unpack(
    packed: PackedThread,
    ids: Ids,
    *,
    owner: User,
    assistant: Assistant | None,
    above: Thread | None,
    usable: Sequence[Assistant],
) -> Thread:
    tenant = assistant.tenant_id if above is None and assistant else above.tenant_id if above else 0
    thread = Thread.objects.create(
        tenant_id=tenant,
        owner=owner,
        assistant=assistant,
        chat_id=ids.chats.get(packed.id) or new_chat_id(),
        parent=above,
        root=(above.root or above) if above else None,
        title=packed.title.replace("\0", ""),
        title_by="person",
        title_asked=True,
        tainted_by=ORIGIN,
        read_private=True,
    )
    ids.threads[packed.id] = thread
    # A sub-chat's id holds those of all above it, and messages name it before it is there.
    ids.chats |= {child.id: new_child_id(thread) for child in packed.sub_chats}
    for turn in packed.turns:
        ids.turns[turn.id] = _turn(turn, thread, root=ids.turns.get(turn.root) if turn.root is not None else None)
    ids.calls |= {call.id: uuid4() for call in packed.calls}
    for message in packed.messages:
        ids.messages[message.id] = _message(message, thread, ids)
    for turn in packed.turns:
        made = ids.turns[turn.id]
        created = _moment(turn.created) or made.started or made.created
        Turn.objects.filter(pk=made.pk).update(user_message=ids.messages.get(turn.user_message), created=created)
    ToolCall.objects.bulk_create([_call(call, ids) for call in packed.calls])
    StoredTable.objects.bulk_create([_table(table, thread, ids) for table in packed.tables])
    for child in packed.sub_chats:
        own = next((each for each in usable if each.slug == child.assistant and each.tenant_id == thread.tenant_id), None)
        _unpack(child, ids, owner=owner, assistant=own, above=thread, usable=usable)
    created = _moment(packed.created) or thread.created
    Thread.objects.filter(pk=thread.pk).update(leaf=ids.messages.get(packed.leaf), created=created)
    unpacking.send(Thread, thread=thread, data=packed.model_extra or {}, ids=ids)
    Message.objects.bulk_update([ids.messages[each.id] for each in packed.messages], ["created"], batch_size=500)
    _tell_states(packed, thread, ids)
    events.record(thread.pk, "log")
    return thread


def _tell_states(packed: PackedThread, thread: Thread, ids: Ids) -> None:
    """The states that its turns went through, from which the timeline is read."""
    told = [(_moment(at), ids.turns[turn.id].pk, state, number) for turn in packed.turns for at, state, number in turn.states]
    known = sorted((at, turn, state, number) for at, turn, state, number in told if at)
    thread.refresh_from_db(fields=["last_event"])
    made = [
        TurnEvent(thread=thread, number=place, kind="turn", payload={"turn": turn, "state": state, "round": number})
        for place, (_, turn, state, number) in enumerate(known, thread.last_event + 1)
    ]
    TurnEvent.objects.bulk_create(made, batch_size=500)
    for event, (at, *_) in zip(made, known, strict=True):
        event.created = at
    TurnEvent.objects.bulk_update(made, ["created"], batch_size=500)
    Thread.objects.filter(pk=thread.pk).update(last_event=thread.last_event + len(made))


def _turn(packed: PackedTurn, thread: Thread, *, root: Turn | None) -> Turn:
    ended = packed.state in Turn.FINAL
    return Turn.objects.create(
        thread=thread,
        state=packed.state if ended else Turn.State.STOPPED,
        reason=packed.reason if ended else "stopped",
        note=packed.note.replace("\0", "") if ended else "",
        round=packed.round,
        profile_label=packed.model,
        root=root,
        input_tokens=packed.input_tokens,
        output_tokens=packed.output_tokens,
        prompt_tokens=packed.prompt_tokens,
        context_window=packed.context_window,
        model_calls=packed.model_calls,
        cost=packed.cost,
        token_cap=packed.token_cap,
        unplanned_handovers=packed.unplanned_handovers,
        started=_moment(packed.started),
        finished=_moment(packed.finished) or timezone.now(),
    )


def _message(packed: PackedMessage, thread: Thread, ids: Ids) -> Message:
    unfinished = packed.state not in Message.State.values or packed.state in (Message.State.QUEUED, Message.State.STREAMING)
    made = add_message(
        thread.pk,
        role=packed.role,
        state=Message.State.INTERRUPTED if unfinished else packed.state,
        parts=[_part(part, ids) for part in packed.parts],
        author=thread.owner if packed.role == "user" else None,
        parent=ids.messages.get(packed.parent),
        turn=ids.turns.get(packed.turn) if packed.turn is not None else None,
        round=packed.round,
    )
    made.created = _moment(packed.created) or made.created
    return made


def _part(part: dict[str, Any], ids: Ids) -> dict[str, Any]:
    """A part of a kind that is known, with the call that it names as that is called here."""
    kind, call = part.get("type"), part.get("call")
    if kind not in ("text", "reasoning", "answer", "context", "tool_result", "sub_result"):
        raise ValueError("an unknown kind of part")
    known: dict[str, Any] = {"type": kind}
    if isinstance(part.get("text"), str):
        known["text"] = part["text"].replace("\0", "")
    if isinstance(call, str):
        known["call"] = str(ids.calls[call])
    if kind == "sub_result":
        said = {name: str(part.get(name, ""))[:2000].replace("\0", "") for name in ("name", "asked")}
        known |= {**said, "chat_id": ids.chats[str(part.get("chat_id"))]}
    if kind == "answer":
        known |= {"chosen": _options(part.get("chosen")), "free_text": str(part.get("free_text", ""))[:50_000]}
    return known


def _options(chosen: Any) -> list[str]:
    return [str(each)[:1000] for each in chosen[:50]] if isinstance(chosen, list) else []


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    said = {name: str(answer.get(name, ""))[:50_000] for name in ("text", "by", "at")}
    return {**said, "chosen": _options(answer.get("chosen")), "plain": bool(answer.get("plain"))}


def _call(packed: PackedCall, ids: Ids) -> ToolCall:
    """Settled in any case; what it gave back is read by the guard like any other result.

    Pages draw what went well from its arguments, so those of a known tool must be such as it takes.
    """
    tool, done = find_tool(packed.name), packed.state == ToolCall.State.SETTLED and packed.outcome in ToolCall.Outcome.values
    if tool and packed.outcome == ToolCall.Outcome.OK:
        check_arguments(tool.arguments, packed.arguments)
    seen = screen_result(packed.name, packed.result.replace("\0", ""))
    return ToolCall(
        pk=ids.calls[packed.id],
        turn=ids.turns[packed.turn],
        message=ids.messages.get(packed.message),
        round=packed.round,
        index=packed.index,
        name=packed.name,
        arguments=packed.arguments,
        state=ToolCall.State.SETTLED,
        outcome=packed.outcome if done else ToolCall.Outcome.STOPPED,
        result=seen.shown,
        withheld=seen.withheld,
        guard={"action": seen.action, **seen.finding.as_dict()} if seen.finding else None,
        code=packed.code if done else "STOPPED",
        answer=_answer(packed.answer) if packed.answer else None,
        effect=tool.effect if tool else ToolCall.Effect.PURE,
        started=_moment(packed.started),
        settled=_moment(packed.settled) or timezone.now(),
        settled_by=ORIGIN,
    )


def _table(packed: PackedTable, thread: Thread, ids: Ids) -> StoredTable:
    if any(len(row) != len(packed.columns) for row in packed.rows):
        raise ValueError("a row that does not fit its columns")
    return StoredTable(
        pointer=packed.pointer,
        tenant_id=thread.tenant_id,
        root_id=thread.root_id_or_own,
        call_id=None,
        title=packed.title,
        columns=[column.model_dump() for column in packed.columns],
        rows=packed.rows,
        row_count=len(packed.rows),
        sources=[ORIGIN],
    )


def _moment(text: str) -> datetime | None:
    found = parse_datetime(text) if text else None
    return found if found is None or timezone.is_aware(found) else timezone.make_aware(found)
