"""The strings inside a JSON value, with the place of each; strings that are JSON themselves are read as well."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .readings import SEPARATOR

MAX_NESTING = 4

Path = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A string in a JSON value: a value that stands in `holder` under `key`, or a key itself (then without a holder)."""

    text: str
    path: Path
    holder: Any = None
    key: Any = None

    @property
    def where(self) -> str:
        """The place as a dotted path, such as `results.2.passage`."""
        parts, path = [], self.path
        while path:
            path, name = path
            parts.append(str(name))
        return ".".join(reversed(parts))


def parse(text: str) -> Any:
    """The object or list that the text holds as JSON, else None."""
    if text[:1] not in "{[ \n" or text.strip()[-1:] not in ("}", "]"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def dump(value: Any) -> str:
    """A JSON value as the text that a model reads."""
    return json.dumps(value, ensure_ascii=False)


def leaves_of(value: Any, path: Path = ()) -> Iterator[Leaf]:
    """Every string in the value, keys and values apart; of equal keys the first one only."""
    keys: set[str] = set()
    todo: list[tuple[Any, Path, Any, Any]] = [(value, path, None, None)]
    while todo:
        value, path, holder, key = todo.pop()
        if isinstance(value, str):
            yield Leaf(value, path, holder, key)
        elif isinstance(value, list):
            todo += [(item, (path, place), value, place) for place, item in reversed(list(enumerate(value)))]
        elif isinstance(value, dict):
            new = value.keys() - keys
            yield from (Leaf(name, (path, name)) for name in value if name in new)
            keys |= new
            todo += [(item, (path, name), value, name) for name, item in reversed(value.items())]


def unfold(text: str, nesting: int = 0) -> str:
    """The text and, if it is JSON itself, what it holds, down to four levels; all to be searched together.

    Without an escape there is nothing inside that does not show in the text as it stands.
    """
    value = parse(text) if "\\" in text and nesting < MAX_NESTING else None
    if value is None:
        return text
    return SEPARATOR.join([text, dump(value), *(unfold(leaf.text, nesting + 1) for leaf in leaves_of(value))])
