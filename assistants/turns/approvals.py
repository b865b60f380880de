"""A call that waits until a person has agreed to its exact arguments: asked, allowed, changed or refused, once (D8, Q15)."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from assistants import clock
from assistants.errors import CodedError
from assistants.llm.plain_text import clean_text
from assistants.models import AuditEntry, ToolCall, Turn, User
from assistants.models.definition import definition_of
from assistants.tools.approval import APPROVED, ASKED, ASSISTANT, REJECTED, TAINT, TOOL, USED, seal
from assistants.tools.arguments import check_arguments
from assistants.tools.context import ToolContext
from assistants.tools.guard.calls import check_call
from assistants.tools.guard.results import Screened
from assistants.tools.invoke import get_allowed_tool
from assistants.tools.registry import Tool, find_tool

from . import events, executors
from .calls import settle_in, wake_if_settled
from .claims import locked
from .lifecycle import announce_thread
from .written import read_written

MAX_WORDS = 4000
PUT_RIGHT = "Put it right and send again."


def ask(turn: Turn, call: ToolCall, why: Sequence[str]) -> None:
    """Puts the call before a person; the turn sleeps in the database until one decides. Inside the runner's transaction.

    Silence is no consent, and neither is a message: only `approve` lets the call run.
    """
    asked = {"state": ASKED, "why": list(why), "hash": seal(call.name, call.arguments), "at": clock.now().isoformat()}
    _store(turn, call, asked)
    _note(turn, call, "approval_asked", user=turn.thread.owner, why=list(why))


def approve(
    call: ToolCall, *, by: User | None, name: str, shown: str, changes: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Lets the call run once with the arguments that were shown, or with changed ones; gives those arguments.

    `shown` is the hash of what the person saw. `changes` are new texts of arguments by name: words stay as they are, a list
    of words is one per line, any other value is written as JSON; they are checked like a model's. The rights are asked again
    here and when it runs: a tool that was taken away meanwhile is refused and the turn goes on. Raises `NOT_ASKED`,
    `APPROVAL_CHANGED`, `BAD_ARGUMENTS`, `GUARD_BLOCKED`.
    """
    call = ToolCall.objects.select_related("turn__thread").get(pk=call.pk)
    arguments, refusal = _changed(call, changes or {}), None
    try:
        tool = _allowed(call)
    except CodedError as error:
        refusal = error
    else:
        # Large arguments take a while to read: not while the turn's row is locked.
        _check(tool, call, arguments)
    with locked(call.turn_id) as turn:
        call = _get_asked(turn, call.pk)
        _check_shown(call, shown)
        if refusal:
            _settle_refused(turn, call, refusal, by=by)
            return arguments
        edited = arguments != call.arguments
        kept = {"original": call.arguments} if edited else {}
        call.arguments = arguments
        call.save(update_fields=["arguments"])
        _store(turn, call, _decided(call, APPROVED, by=name) | {"hash": seal(call.name, arguments)} | kept)
        _note(turn, call, "approval_edited" if edited else "approval_given", user=by)
        carry_on(turn)
    return arguments


def reject(call: ToolCall, *, by: User | None, name: str, words: str) -> None:
    """Settles the call as refused; the model reads the person's words. Raises `NOT_ASKED`, `WORDS_TOO_LONG`."""
    words = clean_text(words).strip()
    if len(words) > MAX_WORDS:
        raise CodedError(
            code="WORDS_TOO_LONG", field="words", message=f"These are more than {MAX_WORDS} characters.", fix="Shorten them."
        )
    with locked(call.turn_id) as turn:
        call = _get_asked(turn, call.pk)
        _store(turn, call, _decided(call, REJECTED, by=name) | {"words": words})
        said = f" Their words: “{words}”" if words else ""
        error = CodedError(
            code="APPROVAL_REJECTED",
            message=f"{name} has read this call and did not let it run.{said}",
            fix="Do not make the same call again. Do what they say, go another way, or tell them what was not done.",
        )
        # What a person wrote here is theirs, and was never a tool's result: the guard leaves it alone.
        value = Screened(error.as_line())
        settle_in(turn, call.pk, outcome=ToolCall.Outcome.REFUSED, value=value, by=name, code=error.code)
        _note(turn, call, "approval_rejected", user=by)
        carry_on(turn)


def use(call: ToolCall) -> None:
    """Marks the leave as used, in the transaction that stores the attempt: it lets one call run, once (D5)."""
    if call.approval and call.approval.get("state") == APPROVED:
        ToolCall.objects.filter(pk=call.pk).update(approval={**call.approval, "state": USED})


def carry_on(turn: Turn) -> None:
    """Lets a sleeping turn run what can run now, or think once nothing is open. The turn must be locked.

    A turn that acts at this moment finds it by itself when it is through with its other calls.
    """
    if turn.state == Turn.State.WAITING and ready_calls(turn):
        # The wait was the person's, not the assistant's: its silence is counted from here.
        turn.state, turn.beat = Turn.State.ACTING, clock.now()
        turn.save(update_fields=["state", "beat"])
        transaction.on_commit(lambda: executors.enqueue(turn.pk), robust=True)
    events.record(turn.thread_id, "turn", turn=turn.pk)
    announce_thread(turn.thread)
    wake_if_settled(turn)


def ready_calls(turn: Turn) -> list[ToolCall]:
    """The open calls whose body was never started and that nothing holds back."""
    fresh = turn.calls.filter(state=ToolCall.State.OPEN, needs_decision=False, attempts=0)
    return [call for call in fresh if not call.is_asked and not waits_behind(turn, call)]


def is_about_arguments(call: ToolCall) -> bool:
    """Whether a person is asked here if the call may run; other parts ask about other things, such as a plan."""
    return call.is_asked and bool({TOOL, ASSISTANT, TAINT} & set((call.approval or {}).get("why", ())))


def waits_behind(turn: Turn, call: ToolCall) -> bool:
    """Whether the call would end the turn over the head of a person who is still asked about another one."""
    tool = find_tool(call.name)
    return tool is not None and tool.ends_turn == "last" and turn.calls.asked().exists()


def _get_asked(turn: Turn, call_id: UUID) -> ToolCall:
    call = ToolCall.objects.get(pk=call_id)
    if not is_about_arguments(call) or not turn.is_active:
        raise CodedError(
            code="NOT_ASKED",
            message="This call does not wait for an approval any more.",
            fix="Reload to see what became of it.",
            correctable=False,
        )
    return call


def _check_shown(call: ToolCall, shown: str) -> None:
    if not call.approval or shown != call.approval["hash"]:
        raise CodedError(
            code="APPROVAL_CHANGED",
            field="hash",
            message="These are not the arguments that this call has now.",
            fix="Reload, read them again, and decide then.",
        )


def _changed(call: ToolCall, changes: Mapping[str, str]) -> dict[str, Any]:
    arguments = dict(call.arguments)
    for name, text in changes.items():
        if name not in arguments:
            raise _bad(name, "The call has no such argument.")
        text = clean_text(text).replace("\r\n", "\n")
        try:
            arguments[name] = read_written(text, like=arguments[name])
        except ValueError as error:
            raise _bad(name, str(error)) from None
    return arguments


def _bad(name: str, message: str) -> CodedError:
    name = name[:80]
    return CodedError(code="BAD_ARGUMENTS", field=name, message=f"{name}: {message}", fix=PUT_RIGHT)


def _allowed(call: ToolCall) -> Tool:
    thread = call.turn.thread
    return get_allowed_tool(ToolContext(call=call, turn=call.turn, thread=thread, definition=definition_of(thread)))


def _check(tool: Tool, call: ToolCall, arguments: dict[str, Any]) -> None:
    if arguments == call.arguments:
        return
    try:
        check_arguments(tool.arguments, arguments)
    except CodedError as error:
        raise CodedError(code=error.code, field=error.field, message=error.message, fix=PUT_RIGHT) from error
    check_call(tool, arguments)


def _settle_refused(turn: Turn, call: ToolCall, error: CodedError, *, by: User | None) -> None:
    settle_in(turn, call.pk, outcome=ToolCall.Outcome.REFUSED, value=error.as_line(), by="platform", code=error.code)
    _note(turn, call, "approval_refused", user=by, code=error.code)
    carry_on(turn)


def _decided(call: ToolCall, state: str, *, by: str) -> dict[str, Any]:
    return {**(call.approval or {}), "state": state, "by": by, "decided": clock.now().isoformat()}


def _store(turn: Turn, call: ToolCall, approval: dict[str, Any]) -> None:
    call.approval = approval
    ToolCall.objects.filter(pk=call.pk).update(approval=approval)
    events.record(turn.thread_id, "call", call=str(call.pk))
    events.record(turn.thread_id, "turn", turn=turn.pk)
    announce_thread(turn.thread)


def _note(turn: Turn, call: ToolCall, action: str, *, user: User | None, **more: object) -> None:
    """For the audit: which tool, which arguments by their hash, and who; never what stands in them."""
    AuditEntry.objects.create(
        tenant_id=turn.thread.tenant_id,
        user=user,
        action=action,
        target=call.name,
        detail={"call": str(call.pk), "thread": turn.thread.chat_id, "hash": (call.approval or {}).get("hash", ""), **more},
    )
