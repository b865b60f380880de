"""A whole conversation as one JSON object: every branch, call, table and sub-chat, to keep or to bring in elsewhere (Z6)."""

from datetime import datetime
from typing import Any

from assistants import clock
from assistants.models import Message, StoredTable, Thread, ToolCall, Turn
from assistants.models.definition import name_of
from assistants.signals import packing

FORMAT, VERSION = "taskmonkey-conversations", 1


def pack_threads(threads: list[Thread]) -> dict[str, Any]:
    """The conversations as JSON-ready data: `format`, `version`, `exported` (ISO 8601) and one node for each.

    It holds what their pages show: not what the guard withheld, no keys, no prompts.
    """
    nodes = [pack_thread(thread) for thread in threads]
    return {"format": FORMAT, "version": VERSION, "exported": _moment(clock.now()), "conversations": nodes}


def pack_thread(thread: Thread) -> dict[str, Any]:
    """One conversation with its sub-chats, each a node of the same shape under `sub_chats`."""
    messages = thread.messages.select_related("author").order_by("sequence")
    states: dict[int, list[list[Any]]] = {}
    for at, told in thread.events.filter(kind="turn").order_by("number").values_list("created", "payload"):
        if "state" in told:
            states.setdefault(told["turn"], []).append([_moment(at), told["state"], told["round"]])
    data: dict[str, Any] = {
        "id": thread.chat_id,
        "title": thread.title,
        "assistant": thread.assistant.slug if thread.assistant else "",
        "assistant_name": name_of(thread),
        "created": _moment(thread.created),
        "updated": _moment(thread.updated),
        "leaf": str(thread.leaf_id or ""),
        "messages": [_message(each) for each in messages.exclude(role=Message.Role.SYSTEM)],
        "turns": [_turn(each, states.get(each.pk, [])) for each in thread.turns.order_by("pk")],
        "calls": [_call(each) for each in ToolCall.objects.filter(turn__thread=thread)],
        "tables": [_table(each) for each in thread.tables.order_by("pk")],
        "sub_chats": [pack_thread(each) for each in thread.children.select_related("assistant").order_by("pk")],
    }
    packing.send(Thread, thread=thread, data=data)
    return data


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": str(message.pk),
        "role": message.role,
        "state": message.state,
        "author": message.author.display_name if message.author else "",
        "created": _moment(message.created),
        "parent": str(message.parent_id or ""),
        "turn": message.turn_id,
        "round": message.round,
        "parts": message.parts,
    }


def _turn(turn: Turn, states: list[list[Any]]) -> dict[str, Any]:
    return {
        "id": turn.pk,
        "user_message": str(turn.user_message_id or ""),
        "state": turn.state,
        "reason": turn.reason,
        "note": turn.note,
        "round": turn.round,
        "model": turn.profile_label,
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
        "prompt_tokens": turn.prompt_tokens,
        "context_window": turn.context_window,
        "model_calls": turn.model_calls,
        "cost": str(turn.cost),
        "token_cap": turn.token_cap,
        "unplanned_handovers": turn.unplanned_handovers,
        "root": turn.root_id,
        "states": states,
        "created": _moment(turn.created),
        "started": _moment(turn.started),
        "finished": _moment(turn.finished),
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": str(call.pk),
        "turn": call.turn_id,
        "message": str(call.message_id or ""),
        "round": call.round,
        "index": call.index,
        "name": call.name,
        "arguments": call.arguments,
        "state": call.state,
        "outcome": call.outcome,
        "result": call.result,
        "code": call.code,
        "answer": call.answer,
        "started": _moment(call.started),
        "settled": _moment(call.settled),
    }


def _table(table: StoredTable) -> dict[str, Any]:
    return {
        "pointer": table.pointer,
        "title": table.title,
        "columns": table.columns,
        "rows": table.rows,
        "sources": table.sources,
        "call": str(table.call_id or ""),
    }


def _moment(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""
