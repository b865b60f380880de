"""The doorbell between processes, over Celery: it says that a turn may be looked at, and may be lost, late or doubled (F16)."""

import logging
import queue
import threading
import time

from celery import shared_task
from kombu.exceptions import OperationalError

from assistants.turns import executors

log = logging.getLogger(__name__)

# Bells that were not sent yet. What does not fit is found by the sweeper, as is what is lost on the way.
_unsent: "queue.Queue[int]" = queue.Queue(10_000)
_started = threading.Lock()
# After a broker that did not answer, no bell is sent for so many seconds.
REST = 1.0


@shared_task(ignore_result=True, acks_late=False, max_retries=0)  # type: ignore[untyped-decorator]
def look_at_turn(turn_id: int) -> None:
    """Hands the turn to this worker's own executor and returns at once; whether it runs is decided by its lease (D4)."""
    executors.take_up(turn_id)


def ring(turn_id: int) -> None:
    """Rings for a turn without ever waiting for the broker (F15)."""
    if _started.acquire(blocking=False):
        threading.Thread(target=_send_all, name="doorbell", daemon=True).start()
    try:
        _unsent.put_nowait(turn_id)
    except queue.Full:
        log.warning("too many bells wait to be sent; the sweeper will look at turn %s", turn_id)


def _send_all() -> None:
    while True:
        turn_id = _unsent.get()
        try:
            look_at_turn.apply_async([turn_id], retry=False)
        except (OperationalError, OSError) as error:
            log.warning("no bell for turn %s, the sweeper will find it: %s", turn_id, error)
            time.sleep(REST)
        except Exception:
            log.exception("no bell for turn %s, the sweeper will find it", turn_id)
            time.sleep(REST)
