"""The value of an argument as a person reads and writes it: words as they are, a list of words one per line, else JSON."""

import json
from typing import Any

from assistants.errors import CodedError
from assistants.tools.arguments import parse_arguments


def as_written(value: object) -> str:
    """What `read_written` gives the very same value back for."""
    if isinstance(value, str):
        return value
    lines = "\n".join(value) if isinstance(value, list) and value and all(isinstance(each, str) for each in value) else ""
    return lines if lines and _lines(lines) == value and not _is_json(lines) else json.dumps(value, ensure_ascii=False)


def read_written(text: str, *, like: object) -> Any:
    """What a person wrote in the place of a value. A list may be written as JSON too. Raises ValueError: not readable."""
    if isinstance(like, str):
        return text
    if isinstance(like, list) and all(isinstance(each, str) for each in like) and not _is_json(text):
        return _lines(text)
    try:
        read = parse_arguments(f'{{"value": {text}}}')
    except CodedError:
        raise ValueError("This value is not valid JSON.") from None
    if set(read) != {"value"}:
        raise ValueError("This is more than one value.")
    return read["value"]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("[", "{", '"'))
