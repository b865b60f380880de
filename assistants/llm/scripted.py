"""The scripted model: answers from a script, in this process, behind the same interface as any other model."""

import asyncio
import json
import os
import re
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from assistants.llm.conversation import Conversation, read_conversation
from assistants.llm.event_stream import EventStream
from assistants.llm.reply import ModelError
from assistants.llm.script import Script, Step, fill, orders_in, parse_script, script_error

RETRYABLE = {
    "MODEL_RATE_LIMITED", "MODEL_UNAVAILABLE", "MODEL_UNREACHABLE", "MODEL_TIMEOUT_FIRST_TOKEN", "MODEL_TIMEOUT_IDLE",
    "MODEL_INTERRUPTED",
}  # fmt: skip
REMEMBERED_REQUESTS = 1000

DEMO_SCRIPTS = Path(__file__).parents[1] / "demo" / "scripts"
_scripts: dict[str, Script] = {}
_requests: dict[str, deque["RecordedRequest"]] = defaultdict(lambda: deque(maxlen=REMEMBERED_REQUESTS))


@dataclass(frozen=True)
class RecordedRequest:
    """What the scripted model was asked, for assertions; `at` is monotonic time in seconds."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...]
    at: float

    def conversation(self) -> Conversation:
        """The request, flattened."""
        return read_conversation(self.messages, self.tools)


def register(name: str, script: str | Mapping[str, Any] | Sequence[Any]) -> None:
    """Makes a script available to profiles whose model has this name, and forgets the requests so far.

    Takes what `parse_script` takes; raises ModelError MODEL_SCRIPT when it is not valid.
    """
    _scripts[name] = parse_script(script)
    _requests.pop(name, None)


def requests(name: str) -> list[RecordedRequest]:
    """What the script of this name was asked since it was registered, oldest first."""
    return list(_requests[name])


def script_named(name: str) -> Script:
    """Finds a registered script, else reads `<name>.json` from the folder in TASKMONKEY_SCRIPTS, by default the demo's.

    Raises ModelError MODEL_SCRIPT when there is none.
    """
    if name in _scripts:
        return _scripts[name]
    path = Path(os.environ.get("TASKMONKEY_SCRIPTS", DEMO_SCRIPTS), f"{name}.json")
    if re.fullmatch(r"[\w-]+", name) and path.is_file():
        return parse_script(path.read_text(encoding="utf-8"))
    raise script_error(f"There is no script named {name!r}.")


class ScriptedModel(Model[None]):
    """Looks its script up for each request, so that a changed script counts at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        super().__init__()

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def system(self) -> str:
        return "scripted"

    async def request(
        self, messages: list[ModelMessage], model_settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        """Gives the same reply in one piece."""
        async with self.request_stream(messages, model_settings, parameters) as stream:
            parts = {event.index: event async for event in _whole_parts(stream)}
            if stream.finish_reason is None:
                raise ModelError(
                    code="MODEL_INTERRUPTED", message="The model's answer broke off.", fix="Try again.", retryable=True
                )
            return ModelResponse(
                parts=[event.part for event in parts.values()], usage=stream.usage, finish_reason=stream.finish_reason
            )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncGenerator["ScriptedStream", None]:
        """Streams the reply that the script has for these messages."""
        tools = model_request_parameters.function_tools
        _requests[self._name].append(RecordedRequest(tuple(messages), tuple(tools), time.monotonic()))
        now = read_conversation(messages, tools)
        step = script_named(self._name).step_for(now)
        yield ScriptedStream(model_request_parameters=model_request_parameters, _model_name=self._name, _step=step, _now=now)


async def _whole_parts(stream: "ScriptedStream") -> AsyncIterator[Any]:
    """Yields each part once it is whole: a scripted step played without cutting it into deltas."""
    async for event in stream.in_one_piece():
        yield event


@dataclass
class ScriptedStream(EventStream):
    """Plays one step."""

    _step: Step
    _now: Conversation

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        step = self._step
        async for event in self._play(step.delta_chars, step.delay_ms / 1000):
            yield event

    async def in_one_piece(self) -> AsyncIterator[ModelResponseStreamEvent]:
        """Plays the step without cutting text into deltas."""
        async for event in self._play(None, 0):
            yield event

    async def _play(self, delta_chars: int | None, delay: float) -> AsyncIterator[ModelResponseStreamEvent]:
        step = self._step
        await asyncio.sleep(step.first_ms / 1000)
        if step.never:
            await asyncio.Event().wait()
        if step.error:
            raise _scripted_error(step)
        text, calls = fill(step.text * step.repeat, self._now), step.calls
        if step.echo_orders:
            calls = orders_in(self._now.result or self._now.user)
            text = text or ("" if calls else "There is no order left.")
        for make_event, content in ((self.reasoning_event, fill(step.reasoning, self._now)), (self.text_event, text)):
            size = delta_chars or len(content) or 1
            for start in range(0, len(content), size):
                yield make_event(content[start : start + size])
                await asyncio.sleep(delay)
        for number, call in enumerate(calls):
            arguments = fill(call.arguments, self._now)
            raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            yield self.call_event(number, call.name, raw, call.id or f"call_{self._now.replies}_{number}")
            await asyncio.sleep(delay)
        self._end(bool(calls))

    def _end(self, has_calls: bool) -> None:
        if self._step.usage:
            self._usage = RequestUsage(input_tokens=self._step.usage[0], output_tokens=self._step.usage[1])
        if not self._step.cut:
            self.finish_reason = self._step.finish or ("tool_call" if has_calls else "stop")  # type: ignore[assignment]


def _scripted_error(step: Step) -> ModelError:
    return ModelError(
        code=step.error,
        message=f"The scripted model reports {step.error}.",
        fix="Try again.",
        retryable=step.error in RETRYABLE,
        retry_after=step.retry_after,
    )
