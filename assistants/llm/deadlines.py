"""The limits on one model call: until the first token, between tokens, altogether (F19, S6, S7)."""

import asyncio
from types import TracebackType

from assistants.llm.profile import TimeLimits
from assistants.llm.reply import ModelError

FIRST_TOKEN, IDLE, TOTAL = "MODEL_TIMEOUT_FIRST_TOKEN", "MODEL_TIMEOUT_IDLE", "MODEL_TIMEOUT_TOTAL"


class Deadlines:
    """An async context that is cancelled when a limit passes, and then raises the ModelError that names the limit.

    Without streaming the whole reply arrives at once, so only the total limit can count.
    """

    def __init__(self, limits: TimeLimits, *, streaming: bool) -> None:
        self._limits = limits
        self._streaming = streaming
        self._heard = False

    async def __aenter__(self) -> "Deadlines":
        self._loop = asyncio.get_running_loop()
        self._last = self._begun = self._loop.time()
        self._timeout = asyncio.timeout(None)
        await self._timeout.__aenter__()
        self._timer = self._loop.call_at(self._due()[0], self._check)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self._error(self._due()[1]) from None

    def heard(self) -> None:
        """Notes that the provider said something. From the second time on only a note, as this runs for every delta:
        the timer looks again when it fires, since what is due only moves later."""
        self._last = self._loop.time()
        if not self._heard:
            self._heard = True
            self._timer.cancel()
            self._timer = self._loop.call_at(self._due()[0], self._check)

    def _due(self) -> tuple[float, str]:
        total = self._begun + self._limits.total, TOTAL
        if not self._streaming:
            return total
        if self._heard:
            return min(total, (self._last + self._limits.idle, IDLE))
        return min(total, (self._begun + self._limits.first_token, FIRST_TOKEN))

    def _check(self) -> None:
        due, _ = self._due()
        if due > self._loop.time():
            self._timer = self._loop.call_at(due, self._check)
        else:
            self._timeout.reschedule(self._loop.time())

    def _error(self, code: str) -> ModelError:
        sentence, seconds = {
            FIRST_TOKEN: ("The model did not begin to answer within {}.", self._limits.first_token),
            IDLE: ("The model stopped in the middle of its answer and said nothing for {}.", self._limits.idle),
            TOTAL: ("The model needed more than {} for its answer.", self._limits.total),
        }[code]
        return ModelError(
            code=code,
            message=sentence.format(f"{seconds:g} seconds"),
            fix="Try again, or raise the model's time limits.",
            retryable=code != TOTAL,
        )
