"""Reads what a model wrote as a call's arguments, strictly."""

import json
import math
from typing import Any, NoReturn

from django.conf import settings
from pydantic import BaseModel, ValidationError

from assistants.errors import CodedError
from assistants.llm.plain_text import clean_text


def parse_arguments(text: str) -> dict[str, Any]:
    """Turns the raw text into an object; empty text is `{}` (F22, J1, J2). Raises `BAD_ARGUMENTS`."""
    if not text.strip():
        return {}
    if len(text.encode()) > settings.TASKMONKEY["MAX_ARGUMENT_BYTES"]:
        raise _bad("The arguments are larger than 1 MB.", fix="Send less, or send a reference.")
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique)
    except RecursionError:
        raise _bad("The arguments are nested too deeply.", fix="Send a flat object.") from None
    except ValueError as error:
        raise _bad(f"The arguments are not valid JSON: {error}.", fix="Send one complete JSON object.") from None
    if not isinstance(value, dict):
        raise _bad("The arguments must be a JSON object.", fix='Send an object such as {"name": "value"}.')
    cleaned: dict[str, Any] = _clean(value)
    return cleaned


def _clean(value: Any) -> Any:
    """Takes out what no database stores: NUL and halves of characters that came as JSON escapes (F21)."""
    match value:
        case str():
            return clean_text(value)
        case list():
            return [_clean(each) for each in value]
        case dict():
            return {clean_text(key): _clean(each) for key, each in value.items()}
    return value


def check_arguments(model: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    """Validates against the tool's signature; unknown and missing fields are refused. Raises `BAD_ARGUMENTS`.

    A tool whose signature takes any arguments gets them all, and checks them itself.
    """
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = _place(first["loc"])
        raise CodedError(
            code="BAD_ARGUMENTS",
            field=field,
            message=f"Argument “{field}”: {first['msg']}.",
            fix="Call the tool again with arguments that fit its schema.",
        ) from None
    return {name: getattr(checked, name) for name in model.model_fields} | (checked.model_extra or {})


def _place(path: tuple[int | str, ...]) -> str:
    """Where it is, such as `tasks[1].assistant`. A part in angle brackets only says which of several shapes was tried."""
    named = [part for part in path if not str(part).startswith("<")]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in named).lstrip(".")


def _bad(message: str, *, fix: str) -> CodedError:
    return CodedError(code="BAD_ARGUMENTS", message=message, fix=fix)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    """A number too large for a float reads as infinity, which no database stores as JSON."""
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
