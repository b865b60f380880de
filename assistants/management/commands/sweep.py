"""Sweeps once: turns that nobody carries on although they could, calls whose report was lost; and says what it did."""

import time
from typing import Any

from django.core.management.base import BaseCommand

from assistants.models import Turn
from assistants.turns import executors
from assistants.turns.sweeper import sweep


class Command(BaseCommand):
    help = "Sweeps once and says what changed; turns are left to the server or the workers. Exit code 0 unless it breaks off."

    def handle(self, *args: Any, **options: Any) -> None:
        # What is woken is for processes that go on; this one is about to end.
        executors.drain(0.0, rest=time.sleep)
        before = _standing()
        found = sweep()
        for turn_id, state in _standing(list(before)).items():
            if state != before[turn_id]:
                self.stdout.write(f"turn {turn_id}: {before[turn_id]} → {state}")
        self.stdout.write(
            f"{found} turn{'' if found == 1 else 's'} can go on and nobody runs {'it' if found == 1 else 'them'}."
        )


def _standing(turn_ids: list[int] | None = None) -> dict[int, str]:
    turns = Turn.objects.exclude(state__in=Turn.FINAL) if turn_ids is None else Turn.objects.filter(pk__in=turn_ids)
    return dict(turns.order_by("pk").values_list("pk", "state"))
