"""Builds what a model is asked from the record alone, so that any process can build it again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from assistants.llm import request
from assistants.llm.profile import Profile
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.definition import Definition, resolve_profile
from assistants.models.prepared import Prepared
from assistants.tools.invoke import shown_to_model
from assistants.tools.registry import tools_of


@dataclass(frozen=True)
class Prompt:
    """One model request: who is asked, with which model, what, and with which tools."""

    definition: Definition
    profile: Profile
    messages: list[request.Message]
    tools: list[request.ToolDefinition]


@dataclass(frozen=True)
class Talk:
    """What was said in a thread, in its order, by the messages' ids; what tools gave back is in their calls."""

    messages: dict[UUID, Message]

    def reply_of(self, turn: Turn) -> Message | None:
        """The reply of the turn's present round, if a runner has opened it."""
        return next((each for each in self._of(turn, Message.Role.ASSISTANT) if each.round == turn.round), None)

    def leaf_of(self, turn: Turn) -> Message | None:
        """The newest message that the turn's next reply follows: its own last reply, or what it took in after that."""
        so_far = [each for each in self._of(turn) if each.role == Message.Role.USER or each.round < turn.round]
        started = self.messages.get(turn.user_message_id) if turn.user_message_id else None
        return so_far[-1] if so_far else started or turn.user_message

    def path_to(self, leaf: Message | None) -> list[Message]:
        """The messages from the first one to `leaf`, along their parents."""
        path: list[Message] = []
        current = self.messages.get(leaf.pk) if leaf else None
        while current is not None and len(path) <= len(self.messages):
            path.append(current)
            current = self.messages.get(current.parent_id) if current.parent_id else None
        return path[::-1]

    @property
    def system(self) -> Message | None:
        """The sub-chat's own system prompt (T-06)."""
        return next((each for each in self.messages.values() if each.role == Message.Role.SYSTEM), None)

    def _of(self, turn: Turn, *roles: str) -> list[Message]:
        wanted = roles or (Message.Role.USER, Message.Role.ASSISTANT)
        return [each for each in self.messages.values() if each.turn_id == turn.pk and each.role in wanted]


def read_talk(thread: Thread) -> Talk:
    """One query, however long the thread."""
    return Talk({each.pk: each for each in _SAID.rows(thread.pk)})


_SAID = Prepared(lambda thread: Message.objects.filter(thread=thread).exclude(role=Message.Role.TOOL).order_by("sequence"))
_CALLS = Prepared(lambda messages: ToolCall.objects.filter(message__pk__in=messages).order_by("round", "index"))


_notes: list[Callable[[Turn, Thread, Definition], str]] = []


def add_note(note: Callable[[Turn, Thread, Definition], str]) -> None:
    """Adds what the platform tells a model at each step, below its instructions; an empty text says nothing."""
    _notes.append(note)


def build_prompt(
    turn: Turn,
    thread: Thread,
    definition: Definition,
    *,
    talk: Talk | None = None,
    told: str = "",
    endings_only: bool = False,
) -> Prompt:
    """The request for the turn's next reply: the branch that leads to its user message, and its own rounds so far.

    `talk` is the thread's, where it was read already. `told` stands below the notes; with `endings_only` no tools are on
    offer but those that end a turn.
    """
    talk = talk or read_talk(thread)
    path = talk.path_to(talk.leaf_of(turn))
    notes = [*(note(turn, thread, definition) for note in _notes), told]
    # A sub-chat has a system prompt of its own (T-06), others the assistant's present instructions.
    told_first = talk.system.text if talk.system else definition.instructions
    system = "\n\n".join([told_first, *filter(None, notes)])
    messages: list[request.Message] = [request.System(system)]
    calls = _calls_by_message(path)
    for message in path:
        messages += _as_model_messages(message, calls.get(message.pk, []))
    offered = [tool for tool in tools_of(definition.tools) if tool.ends_turn or not endings_only]
    tools = [tool.define(definition, thread) for tool in offered]
    return Prompt(
        definition=definition,
        profile=resolve_profile(definition, thread),
        messages=messages,
        tools=[each for each in tools if each is not None],
    )


def turn_leaf(turn: Turn, thread: Thread) -> Message | None:
    """The newest message that the turn's next reply follows: its own last reply, or what it took in after that."""
    so_far = Q(role=Message.Role.USER) | Q(role=Message.Role.ASSISTANT, round__lt=turn.round)
    return Message.objects.filter(so_far, turn=turn).order_by("-sequence").first() or turn.user_message


def last_said(turn: Turn) -> Message | None:
    """What the turn was told last: a message that it took in on its way, else the one that started it."""
    return turn.messages.filter(role=Message.Role.USER).order_by("-sequence").first() or turn.user_message


def _calls_by_message(path: Sequence[Message]) -> dict[object, list[ToolCall]]:
    found: dict[object, list[ToolCall]] = {}
    replies = [each.pk for each in path if each.role == Message.Role.ASSISTANT]
    for call in _CALLS.rows(replies):
        found.setdefault(call.message_id, []).append(call)
    return found


def _as_model_messages(message: Message, calls: list[ToolCall]) -> list[request.Message]:
    if message.role == Message.Role.USER:
        return [request.User(message.text)]
    if message.role != Message.Role.ASSISTANT:
        return []
    # Only answered calls are repeated to a provider: an unmatched one would make the request invalid (I8).
    settled = [call for call in calls if not call.is_open]
    if not settled:
        return [request.Answer(message.text)] if message.text else []
    made = tuple(request.Call(_wire_id(call), call.name, json.dumps(call.arguments)) for call in settled)
    given = tuple(request.Result(_wire_id(call), call.name, shown_to_model(call.result)) for call in settled)
    return [request.Answer(message.text, made), request.Results(given)]


def _wire_id(call: ToolCall) -> str:
    """Our own id: providers repeat theirs, leave them out or make them 10 KB long (F25)."""
    return f"call_{call.pk.hex[:24]}"
