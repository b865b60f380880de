"""One attempt at one reply: a profile and messages go in, deltas reach the sink, one reply or one error comes out."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelResponseStreamEvent, PartStartEvent
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from assistants.failpoints import failpoint
from assistants.llm.assembly import ReplyInProgress
from assistants.llm.conversation import as_model_message, as_model_tool
from assistants.llm.deadlines import Deadlines
from assistants.llm.failures import as_model_error
from assistants.llm.models import build_model, request_settings
from assistants.llm.profile import Profile
from assistants.llm.reply import ModelError, Reply, Sink
from assistants.llm.request import Message, ToolDefinition, estimate_chars, estimate_tokens


@dataclass(frozen=True)
class Ended:
    """The stream's last word: pydantic's finish reason, None when the provider never said one, and what it counted."""

    finish: str | None
    input_tokens: int = 0
    output_tokens: int = 0


async def stream_reply(profile: Profile, messages: list[Message], tools: list[ToolDefinition], sink: Sink) -> Reply:
    """Asks the model once and gives its whole reply; the sink gets text and reasoning while they arrive.

    Nothing is tried again here. Cancelling the task closes the provider's connection at once (T1). Limits of
    `profile.limits` are in seconds (F19, S6, S7); what is larger than the bounds of `assembly` is cut while it is
    read, and the reply then has finish 'length' (F23). Raises ModelError with the text so far in `partial`, also
    when the stream ended without saying that it was finished (F20).
    """
    reply = ReplyInProgress(sink)
    try:
        model = build_model(profile)
        failpoint("llm.requested")
        ended = await _read(model, profile, messages, tools, reply)
        finish = _finish(ended)
    except ModelError as error:
        error.partial = reply.text()
        raise
    failpoint("llm.finished")
    counted = bool(ended.input_tokens or ended.output_tokens)
    return reply.finished(
        finish,
        input_tokens=ended.input_tokens if counted else estimate_tokens(messages, tools),
        output_tokens=ended.output_tokens if counted else estimate_chars(reply.length()),
        estimated=not counted,
    )


async def _read(
    model: Model, profile: Profile, messages: list[Message], tools: list[ToolDefinition], reply: ReplyInProgress
) -> Ended:
    """Reads events into the reply until the stream ends, a bound is reached or a limit passes."""
    deadlines = Deadlines(profile.limits, streaming=profile.streaming)
    async with deadlines, aclosing(_events(model, profile, messages, tools)) as events:
        async for event in events:
            deadlines.heard()
            if isinstance(event, Ended):
                return event
            reply.take(event)
            if reply.cut:
                break
    return Ended("length")


async def _events(
    model: Model, profile: Profile, messages: list[Message], tools: Sequence[ToolDefinition]
) -> AsyncGenerator[ModelResponseStreamEvent | Ended, None]:
    """Yields what the provider sends, then Ended. Whatever goes wrong in here is the provider's: a ModelError."""
    parameters = ModelRequestParameters(function_tools=[as_model_tool(tool) for tool in tools])
    told = [as_model_message(message) for message in messages]
    settings: ModelSettings = request_settings(profile)
    try:
        if not profile.streaming and not isinstance(model, FunctionModel):
            response = await model_request(model, told, model_settings=settings, model_request_parameters=parameters)
            for index, part in enumerate(response.parts):
                yield PartStartEvent(index=index, part=part)
            yield _ended(model, response.finish_reason, response.usage)
            return
        async with model_request_stream(model, told, model_settings=settings, model_request_parameters=parameters) as stream:
            async with aclosing(cast(AsyncGenerator[ModelResponseStreamEvent], aiter(stream))) as events:
                async for event in events:
                    yield event
            yield _ended(model, stream.finish_reason, stream.usage)
    except ModelError:
        raise
    except Exception as error:
        # Not `from error`: a logged traceback would show the upstream's text, and keys with it.
        raise as_model_error(error, profile) from None


def _ended(model: Model, finish: str | None, usage: RequestUsage) -> Ended:
    """Makes the last word. A function in this process can't be cut off, and what it counts is a guess."""
    if isinstance(model, FunctionModel):
        return Ended(finish or "stop")
    return Ended(finish, usage.input_tokens, usage.output_tokens)


def _finish(ended: Ended) -> str:
    """The reply's finish; raises ModelError for a stream that never said it was finished (F20, R4)."""
    if ended.finish in {"stop", "length", "content_filter"}:
        return ended.finish
    if ended.finish == "tool_call":
        return "tool_calls"
    raise ModelError(
        code="MODEL_INTERRUPTED",
        message="The model's answer broke off before it was finished.",
        fix="Try again.",
        correctable=True,
        retryable=True,
    )
