"""Log lines that hold no content: ids, codes and places in the code, as text or as JSON (S34)."""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

_known: ContextVar[dict[str, int] | None] = ContextVar("known", default=None)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ROOT = Path(__file__).resolve().parent.parent
MAX_FRAMES = 40
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


@contextmanager
def about(**ids: int) -> Iterator[None]:
    """Adds numbers such as `turn`, `thread` and `tenant` to every line that is logged inside, also from tasks begun there."""
    token = _known.set((_known.get() or {}) | ids)
    try:
        yield
    finally:
        _known.reset(token)


def know(**ids: int) -> None:
    """The same for the rest of the innermost `about`, once more is known."""
    _known.set((_known.get() or {}) | ids)


def message_of(record: logging.LogRecord) -> str:
    """A record's message on one line. An exception among its arguments is named by its type: its words may be content."""
    if hasattr(record, "request") and record.name.startswith("django."):
        return _one_line(_about_request(record))
    args: Any = record.args
    if isinstance(args, tuple):
        args = tuple(type(each).__name__ if isinstance(each, BaseException) else each for each in args)
    text = str(type(record.msg).__name__ if isinstance(record.msg, BaseException) else record.msg)
    text = text % args if args else text
    # What follows is the task with the words of its exception.
    return _one_line(text.partition("\n")[0] if record.name == "asyncio" else text)


def _about_request(record: logging.LogRecord) -> str:
    """Django writes the address, in which a sign-in link is a key and a search is content; the route says as much."""
    request: Any = record.__dict__["request"]
    match = getattr(request, "resolver_match", None)
    route = match.route if match is not None else "?"
    method = getattr(request, "method", "") or record.__dict__["request"].__class__.__name__
    return f"{method} {route or '/'} {getattr(record, 'status_code', '')}".strip()


def _one_line(text: str) -> str:
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def trace_of(info: ExcInfo) -> tuple[str, list[str]]:
    """The types of an exception and of what caused it, and the places it came through; never what it says."""
    chain, names = [info[1]], []
    while (error := chain[-1]) is not None:
        names.append(type(error).__name__)
        follows = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if follows is None or follows in chain:
            break
        chain.append(follows)
    frames = traceback.extract_tb(info[2])[-MAX_FRAMES:]
    return " from ".join(names), [f"{_place(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _place(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_ROOT) and "site-packages" not in path.parts:
        return str(path.relative_to(_ROOT))
    return "/".join(path.parts[-3:])


class Lines(logging.Formatter):
    """One line for people: time, level, logger, the ids in brackets, message; and under it where an exception came from.

    With `tell_errors`, meant for a developer's own machine, an exception's words and source lines are shown as well.
    """

    def __init__(self, tell_errors: bool = False) -> None:
        super().__init__()
        self.tell_errors = tell_errors

    def format(self, record: logging.LogRecord) -> str:
        known = _known.get() or {}
        ids = f" [{' '.join(f'{name}={number}' for name, number in known.items())}]" if known else ""
        line = f"{self.formatTime(record)} {record.levelname} {record.name}{ids} {message_of(record)}"
        if not record.exc_info or record.exc_info[0] is None:
            return line
        if self.tell_errors:
            return f"{line}\n{self.formatException(record.exc_info)}"
        error, frames = trace_of(record.exc_info)
        return "\n".join([f"{line}: {error}", *(f"    {frame}" for frame in frames)])


class JsonLines(logging.Formatter):
    """One JSON object a line: `time` (UTC), `level`, `logger`, `message`, the ids that are known, `error` and `trace`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": message_of(record),
            **(_known.get() or {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"], line["trace"] = trace_of(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Steady(logging.StreamHandler[Any]):
    """Writes to standard error; a full disk or a closed pipe behind it costs lines and nothing else (F29)."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Says nothing: the only place to say it is the one that can't be written to."""


def set_up(level: str, kind: str, *, tell_errors: bool = False) -> dict[str, Any]:
    """The settings for `logging.config`: `kind` is text or json, `level` that of the product, Django and the server.

    Libraries that talk to models write prompts at lower levels, so nothing else ever says less than a warning.
    """
    lines: dict[str, Any] = {"()": JsonLines} if kind == "json" else {"()": Lines, "tell_errors": tell_errors}
    own = ("assistants", "subchats", "taskmonkey", "django", "__main__")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": lines},
        "handlers": {"console": {"()": Steady, "formatter": "lines"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {**{name: {"level": level} for name in own}, "django.db.backends": {"level": "WARNING"}},
    }
