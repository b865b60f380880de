"""What a model answered, and how it can fail."""

from dataclasses import dataclass
from typing import Protocol

from assistants.errors import CodedError


@dataclass(frozen=True)
class RequestedCall:
    """A tool call as the model wrote it: nothing about it is checked yet. `arguments` is the raw text."""

    provider_id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """One finished reply. `finish` is stop, tool_calls, length or content_filter; `estimated` says that the
    provider reported no token counts and they were taken as a quarter of the characters."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[RequestedCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    finish: str = "stop"
    estimated: bool = False


class Sink(Protocol):
    """Where deltas go while the reply grows. Called on the stream loop; must not block."""

    def on_text(self, delta: str) -> None: ...

    def on_reasoning(self, delta: str) -> None: ...


@dataclass(eq=False)
class ModelError(CodedError):
    """A model call that gave no whole reply, as a plain sentence for the person.

    Codes: MODEL_RATE_LIMITED, MODEL_QUOTA, MODEL_UNAVAILABLE, MODEL_UNREACHABLE, MODEL_AUTH, MODEL_NOT_FOUND,
    MODEL_REFUSED (other 4xx), MODEL_CONTEXT_TOO_LONG, MODEL_TIMEOUT_FIRST_TOKEN, MODEL_TIMEOUT_IDLE,
    MODEL_TIMEOUT_TOTAL, MODEL_INTERRUPTED (the stream was cut), MODEL_SCRIPT (the scripted model has no step left).
    `retryable` says that the same request may succeed later; `retry_after` is the provider's wish in seconds, 0..60.
    `partial` is what had been streamed until then.
    """

    retryable: bool = False
    retry_after: float | None = None
    partial: str = ""
