"""Stops turns whose owner lost the right to have them work, wherever they run (S08, P11)."""

from typing import Any

from assistants.access import may_run
from assistants.models import Turn
from assistants.turns.lifecycle import stop_turn


def stop_what_lost_its_right(**kwargs: Any) -> None:
    """Looks at every turn that works or waits, as often as the sweeper runs."""
    for turn in Turn.objects.active().select_related("thread__owner", "thread__root__owner", "thread__assistant"):
        if not may_run(turn):
            stop_turn(turn.pk, by="the platform", reason="no_right")
