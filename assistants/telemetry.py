"""What the turn code tells whoever measures it: facts and seconds, never content; one look at a tuple while nobody does."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

log = logging.getLogger(__name__)
Facts = Mapping[str, Any]
Listener = Callable[[str, Facts, float], None]
_listeners: tuple[Listener, ...] = ()


class _Unheard(dict[str, Any]):
    """Takes what nobody will read."""


def listen(listener: Listener) -> Callable[[], None]:
    """From now on `listener(what, facts, seconds)` hears everything, on the thread where it happened; gives the way out.

    What is told: `chat` (a model call: turn, provider, model, input_tokens, output_tokens, finish, first), `tool` (turn,
    call, name, outcome, code), `round` (of the engine: name, count), `claimed` (turn, taken_over), `sockets` (open). Each
    that failed has `error`: a code, or the exception's type.
    """
    global _listeners
    _listeners = (*_listeners, listener)

    def leave() -> None:
        global _listeners
        _listeners = tuple(each for each in _listeners if each is not listener)

    return leave


def tell(what: str, *, seconds: float = 0.0, **facts: Any) -> None:
    """Says that something happened."""
    if _listeners:
        _pass_on(what, facts, seconds)


@contextmanager
def timed(what: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Tells of what happens inside once it is over; what is learnt meanwhile is put into the facts that it gives."""
    if not _listeners:
        yield _Unheard()
        return
    begun = time.monotonic()
    try:
        yield facts
    except BaseException as error:
        facts["error"] = getattr(error, "code", "") or type(error).__name__
        raise
    finally:
        _pass_on(what, facts, time.monotonic() - begun)


def _pass_on(what: str, facts: Facts, seconds: float) -> None:
    for listener in _listeners:
        try:
            listener(what, facts, seconds)
        except Exception:
            # To measure must never be what breaks a turn.
            log.exception("%s was not measured", what)
