"""Puts a recorded journal into the present schema and lets the present code go on with it."""

import contextlib
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction

from assistants.llm import scripted
from tests.journals import play, rows
from tests.kit import turns

# The process that was killed is gone, and another one was started.
RESTART = timedelta(seconds=1)


def replay(journal: dict[str, Any]) -> dict[str, Any]:
    """How the journal ends with the present code; whatever it wrote is undone. Fails if an invariant does not hold."""
    turns.forget()
    start = datetime.fromisoformat(journal["now"]) + RESTART
    with undone(), play.own_time(start) as time, play.declared_tools(), tempfile.TemporaryDirectory() as folder:
        rows.load(journal["tables"], Path(folder))
        for model, script in journal["scripts"].items():
            scripted.register(model, script)
        play.run_to_the_end(time)
        play.check_invariants()
        return play.the_end()


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """A transaction that leaves nothing behind."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
