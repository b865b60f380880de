"""Turns whatever a provider answers with, other than a reply, into one plain sentence without keys or markup."""

import logging
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
)

from assistants.llm.connections import BodyTooLarge
from assistants.llm.event_lines import WebPageInstead
from assistants.llm.hints import safe_hint
from assistants.llm.profile import Profile
from assistants.llm.reply import ModelError

MAX_RETRY_AFTER = 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Kind:
    sentence: str
    fix: str
    retryable: bool = False


KINDS = {
    "MODEL_RATE_LIMITED": _Kind("{who} takes no more requests for the moment.", "Wait a little, then try again.", True),
    "MODEL_QUOTA": _Kind("The quota or credit at {who} is used up.", "Ask an administrator to top it up."),
    "MODEL_UNAVAILABLE": _Kind("{who} has a fault and cannot answer for the moment.", "Try again.", True),
    "MODEL_UNREACHABLE": _Kind("{who} cannot be reached.", "Check that the server runs and its address is right.", True),
    "MODEL_AUTH": _Kind("{who} does not accept the key.", "Ask an administrator to check the key and its rights."),
    "MODEL_NOT_FOUND": _Kind("{who} does not know the model {model!r}.", "Check the model's name and the server's address."),
    "MODEL_REFUSED": _Kind("{who} refused the request{status}.", "Change the request or the model's settings."),
    "MODEL_CONTEXT_TOO_LONG": _Kind(
        "This conversation is longer than the model can read at once.", "Start a new chat, or choose a model with more room."
    ),
    "MODEL_INTERRUPTED": _Kind("The model's answer broke off before it was finished.", "Try again.", True),
}

_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|prompt is too long|too many (input )?tokens"
    r"|exceeds? the (available|model|maximum).{0,40}(context|token)|reduce the length|input (is|was) too long",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing|insufficient balance", re.IGNORECASE
)


def as_model_error(error: Exception, profile: Profile) -> ModelError:
    """Maps any exception of a provider, its SDK or the network (F17, F18, R6).

    Nothing of the upstream's text is passed on, except a short reason of a refused request after `safe_hint`.
    """
    code = _code(error)
    kind = KINDS[code]
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    message = kind.sentence.format(who=_who(profile), model=profile.model, status=f" (HTTP {status})" if status else "")
    if code == "MODEL_REFUSED" and (hint := _hint(error, profile)):
        message = f"{message[:-1]}: {hint}"
    log.info("model call failed: %s %s http=%s", code, type(error).__name__, status)
    return ModelError(
        code=code,
        message=message,
        fix=kind.fix,
        correctable=kind.retryable,
        retryable=kind.retryable,
        retry_after=_retry_after(error) if kind.retryable else None,
    )


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Reads a Retry-After header: seconds or an HTTP date. Clamped to 0..60 seconds; None for garbage (F17)."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - (now or datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _code(error: Exception) -> str:
    text = _upstream_message(error)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    if isinstance(error, ModelContextWindowExceededError) or (status in {400, 413, 422, 500} and _TOO_LONG.search(text)):
        return "MODEL_CONTEXT_TOO_LONG"
    if isinstance(error, ModelQuotaExceededError) or (status == 429 and _QUOTA.search(text)):
        return "MODEL_QUOTA"
    for kinds, code in (
        (ModelRateLimitError, "MODEL_RATE_LIMITED"),
        (ModelAuthenticationError, "MODEL_AUTH"),
        (ModelNotFoundError, "MODEL_NOT_FOUND"),
        ((ModelUnavailableError, ModelServerError), "MODEL_UNAVAILABLE"),
    ):
        if isinstance(error, kinds):
            return code
    if status is not None:
        return "MODEL_UNAVAILABLE" if status >= 500 or status in {408, 409, 425} else "MODEL_REFUSED"
    return _code_without_status(error)


def _code_without_status(error: Exception) -> str:
    chain = list(_causes(error))
    if any(isinstance(cause, BodyTooLarge | WebPageInstead) for cause in chain):
        return "MODEL_REFUSED"
    if any(isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout) for cause in chain):
        return "MODEL_UNREACHABLE"
    if any(isinstance(cause, httpx2.HTTPStatusError) for cause in chain):
        return "MODEL_REFUSED"
    if isinstance(error, ModelConnectionError) or any(isinstance(cause, httpx2.TransportError) for cause in chain):
        return "MODEL_INTERRUPTED"
    if isinstance(error, ModelAPIError) and error.in_stream:
        return "MODEL_UNAVAILABLE"
    return "MODEL_INTERRUPTED"


def _hint(error: Exception, profile: Profile) -> str:
    """Why the request was refused, in a few words, if that can be told."""
    chain = list(_causes(error))
    if any(isinstance(cause, BodyTooLarge) for cause in chain):
        return "it sent more than any answer can be"
    if any(isinstance(cause, httpx2.HTTPStatusError) and cause.response.is_redirect for cause in chain):
        return "it sends its callers on to another address"
    return safe_hint(_upstream_message(error), secret=profile.api_key)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _upstream_message(error: Exception) -> str:
    """The reason in an error body that has the usual JSON shape; empty for anything else."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping | str):
        body = body["error"]
    if isinstance(body, Mapping):
        body = body.get("message") or body.get("detail") or body.get("type") or ""
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def _retry_after(error: Exception) -> float | None:
    headers = getattr(error, "headers", None) or {}
    return parse_retry_after(headers.get("retry-after")) if headers.get("retry-after") else _clamped(error)


def _clamped(error: Exception) -> float | None:
    seconds = getattr(error, "retry_after", None)
    return None if seconds is None else min(max(float(seconds), 0.0), MAX_RETRY_AFTER)


def _who(profile: Profile) -> str:
    name = profile.label or {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Google"}.get(profile.provider, "")
    if profile.base_url and not profile.label:
        name = httpx2.URL(profile.base_url).host
    return name or "The model's server"
