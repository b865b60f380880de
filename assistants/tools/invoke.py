"""The one path on which a tool is called: known, allowed now, arguments valid, approved, run in limits, result bounded."""

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from django.conf import settings

from assistants.errors import CodedError, LeaseLost, NotAllowed
from assistants.failpoints import failpoint
from assistants.units import let_go, says_nothing, unit

from .approval import hold
from .arguments import check_arguments, parse_arguments
from .context import ToolContext
from .guard.calls import check_call
from .outcomes import Done, Outcome, Refused
from .registry import Tool, find_tool, tools_of

log = logging.getLogger(__name__)
_pool = ThreadPoolExecutor(max_workers=32, thread_name_prefix="tool")


def invoke(context: ToolContext, *, starting: Callable[[Tool], None]) -> Outcome:
    """Carries out `context.call`. `starting` stores the attempt before the body runs (D5).

    Never raises for what a model or a tool did wrong: that becomes `Refused` with a sentence for the model. A database that
    went away is neither: its error is raised, and whoever carries the turn on finds out how far the call has come (F13).
    """
    try:
        tool = get_allowed_tool(context)
        if context.call.raw_arguments:
            parse_arguments(context.call.raw_arguments)  # raises: it was kept because it is not valid
        values = check_arguments(tool.arguments, context.call.arguments)
        check_call(tool, context.call.arguments)
        if held := hold(tool, context):
            return held
        starting(tool)
        failpoint("tool.intent_committed")
        outcome = _run(tool, context, values)
        failpoint("tool.effect_done")
        return outcome
    except CodedError as error:
        return Refused(error)


def get_allowed_tool(context: ToolContext) -> Tool:
    """The tool if this assistant may use it at this moment (S25, T-13). Raises `TOOL_UNKNOWN` or `TOOL_NOT_ALLOWED`."""
    name, allowed = context.call.name, context.definition.tools
    tool = find_tool(name)
    if tool is None or name not in allowed:
        known = ", ".join(each.name for each in tools_of(allowed)) or "none"
        refusal = CodedError if tool is None else NotAllowed
        raise refusal(
            code="TOOL_UNKNOWN" if tool is None else "TOOL_NOT_ALLOWED",
            field="name",
            message=f"There is no tool “{name[:80]}” for you. Your tools: {known}.",
            fix="Call one of your tools by its exact name, or answer without a tool.",
        )
    if tool.delegates and (context.definition.public or not context.thread.owner_id):
        raise NotAllowed(
            code="TOOL_NOT_ALLOWED",
            field="name",
            message="A public assistant can't delegate. Answer yourself.",
            fix="Answer without delegating.",
            correctable=False,
        )
    return tool


def _run(tool: Tool, context: ToolContext, values: dict[str, Any]) -> Outcome:
    if tool.in_transaction:
        return _as_outcome(_guarded(tool, context, values))
    seconds = tool.seconds or settings.TASKMONKEY["TOOL_SECONDS"]
    future = _pool.submit(_in_own_thread, tool, context, values)
    let_go()
    try:
        return _as_outcome(future.result(timeout=seconds))
    except FutureTimeout:
        raise CodedError(
            code="TOOL_TIMEOUT",
            message=f"{tool.name} gave no result within {seconds:g} seconds.",
            fix="Ask for less, or go on without it.",
        ) from None


def _in_own_thread(tool: Tool, context: ToolContext, values: dict[str, Any]) -> Any:
    try:
        return _guarded(tool, context, values)
    finally:
        let_go()


def _guarded(tool: Tool, context: ToolContext, values: dict[str, Any]) -> Any:
    try:
        function = unit(tool.function) if tool.in_transaction else tool.function
        return function(context, **values)
    except (CodedError, LeaseLost):
        raise
    except Exception as error:
        if says_nothing(error):
            raise
        log.exception("tool %s failed in turn %s", tool.name, context.turn.pk)
        raise CodedError(
            code="TOOL_FAILED",
            message=f"{tool.name} failed ({type(error).__name__}). Nothing else is known about it.",
            fix="Try other arguments, or go on without it.",
        ) from error


def _as_outcome(value: Any) -> Outcome:
    return value if isinstance(value, Outcome) else Done(value)


def as_text(value: Any) -> str:
    """A tool's value as the text that is stored: JSON for data, never above the stored limit."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    limit = settings.TASKMONKEY["MAX_RESULT_STORED_BYTES"]
    raw = text.encode("utf-8", "replace").replace(b"\0", b"")
    return raw[:limit].decode("utf-8", "ignore")


def shown_to_model(text: str) -> str:
    """The part of a stored result that a model gets to read, with a note on what was left out (J8)."""
    limit = settings.TASKMONKEY["MAX_RESULT_SHOWN_CHARS"]
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[Cut: {limit} of {len(text)} characters shown. Ask for a smaller part to see the rest.]"
