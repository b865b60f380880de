"""Stores what the growing replies of this process hold so far, all together: one transaction a second, however many grow."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from assistants import clock
from assistants.durability import unsynced
from assistants.models import Turn
from assistants.models.growing import store_growing
from assistants.models.prepared import Prepared
from assistants.units import unit

from .claims import Claim, extend, show_life
from .lifecycle import reply_parts
from .live import LiveReply


@dataclass(eq=False)
class Growth:
    """A reply that grows, the claim under which it may be stored, and the model call that feeds it."""

    claim: Claim
    reply: LiveReply
    stream: "Future[Any]"
    version: int = 0
    saved: float = 0.0
    lost: bool = False


# The deepest first, as everybody locks them, so that two processes never wait for each other.
_FENCES = Prepared(
    lambda turns: (
        Turn.objects.active().filter(pk__in=turns).select_for_update(no_key=True).order_by("-pk").values_list("pk", "fence")
    )
)
_lock = threading.Lock()
_growing: dict[int, Growth] = {}


def begin(claim: Claim, reply: LiveReply, stream: "Future[Any]") -> Growth:
    """From now on the reply is stored whenever anybody calls `save`."""
    growth = Growth(claim, reply, stream, saved=clock.monotonic())
    _growing[claim.turn_id] = growth
    return growth


def end(growth: Growth) -> None:
    """Stores no more of it."""
    if _growing.get(growth.claim.turn_id) is growth:
        del _growing[growth.claim.turn_id]


def save(*, older_than: float) -> None:
    """Stores, for every turn of this process, what was not stored for so many seconds, and prolongs their leases.

    A turn that somebody else ended or took meanwhile is marked as lost, and its model call is cancelled (D4). If another
    thread is saving right now, it does the work.
    """
    if not _lock.acquire(blocking=False):
        return
    try:
        now = clock.monotonic()
        due = [growth for growth in list(_growing.values()) if now - growth.saved >= older_than]
        if due:
            _store(due)
        for growth in due:
            growth.saved = now
    finally:
        _lock.release()


@unit
def _store(due: list[Growth]) -> None:
    versions = {growth: growth.reply.version for growth in due}
    # Put together before the rows are locked: on SQLite, that holds up everybody who writes.
    grown = {
        growth: reply_parts(growth.reply.text, growth.reply.reasoning_text)
        for growth in due
        if growth.version != versions[growth]
    }
    with unsynced():
        fences = dict(_FENCES.rows([growth.claim.turn_id for growth in due]))
        for growth in due:
            growth.lost = fences.get(growth.claim.turn_id) != growth.claim.fence
        kept = [growth for growth in due if not growth.lost]
        extend([growth.claim.turn_id for growth in kept])
        if changed := [growth for growth in kept if growth in grown]:
            show_life([growth.claim.turn_id for growth in changed])
            store_growing([(growth.reply.message_id, grown[growth]) for growth in changed])
    for growth in due:
        growth.version = versions[growth]
        if growth.lost:
            growth.stream.cancel()
