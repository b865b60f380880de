"""A unit of work is done whole or not at all; one that a deadlock or a lost connection broke is begun anew (F13)."""

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import Error, InterfaceError, OperationalError, connection

log = logging.getLogger(__name__)

ATTEMPTS = 3
PAUSE_SECONDS = 0.1
# What PostgreSQL says when it undid one of two transactions that stood in each other's way.
UNDONE = frozenset({"40P01", "40001"})
# What it says, or what is said for it, when the connection is gone. Without a code nobody answered at all.
GONE = ("08", "57P")

P = ParamSpec("P")
R = TypeVar("R")


def unit(work: Callable[P, R]) -> Callable[P, R]:
    """Has a function that opens one transaction done again, up to three times in all, when that was undone by no fault
    of its own.

    Within a larger transaction it is a part of that, and is not repeated by itself. Where the answer to COMMIT was lost
    nobody knows whether it was done: that is left to whoever can look, such as a page with its client key (D3).
    """

    @wraps(work)
    def whole(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(1, ATTEMPTS + 1):
            outermost = not connection.in_atomic_block
            try:
                return work(*args, **kwargs)
            except (OperationalError, InterfaceError) as error:
                if not outermost or attempt == ATTEMPTS or not may_repeat(error):
                    raise
                log.warning("%s was undone (%s); it is begun anew", work.__name__, _reason(error))
            connection.close_if_unusable_or_obsolete()
            # Two that met once are not to meet again.
            time.sleep(PAUSE_SECONDS * attempt * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable")

    return whole


def let_go() -> None:
    """Gives the connection back to its pool before something that takes long and asks nothing of the database.

    Within a transaction it is kept. The next thread finds it with the statements that it knows: a hundred threads with a
    connection each would put them all together a hundred times, and keep a megabyte for each.
    """
    if not connection.in_atomic_block:
        connection.close()


def may_repeat(error: Error) -> bool:
    """Whether the transaction that this error ended has left nothing behind, and may go better at once."""
    if connection.vendor != "postgresql":
        return False
    if _code(error) in UNDONE:
        return True
    # A pool without a free connection has let the caller wait already.
    return _is_gone(error) and type(error.__cause__).__name__ != "PoolTimeout" and not _was_committing(error)


def says_nothing(error: BaseException) -> bool:
    """Whether the database went away, or did not answer to COMMIT: no word about the work itself. It may be done or not, and is
    found by looking once there is a database again, as after the death of a process."""
    return isinstance(error, (OperationalError, InterfaceError)) and (_was_committing(error) or _is_gone(error))


def _is_gone(error: Error) -> bool:
    code = _code(error)
    return connection.vendor == "postgresql" and (code is None or code.startswith(GONE))


def _code(error: Error) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def _was_committing(error: Error) -> bool:
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_name == "_commit":
            return True
        trace = trace.tb_next
    return False


def _reason(error: Error) -> str:
    return _code(error) or type(error).__name__
