"""Tells which processes run turns, and how many turns wait for one."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from assistants import clock
from assistants.models import Runner
from assistants.turns.backlog import waiting


class Command(BaseCommand):
    # Asked every half a minute by whoever looks after a worker.
    requires_system_checks: list[str] = []
    help = "Names the processes that run turns. Exit code 0 if there are enough of them, 1 if not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--at-least", type=int, default=1, help="how many there have to be (default 1)")

    def handle(self, *args: Any, **options: Any) -> None:
        since = clock.now() - timedelta(seconds=settings.TASKMONKEY["LEASE_SECONDS"])
        alive = list(Runner.objects.alive(since).order_by("holder"))
        for runner in alive:
            self.stdout.write(f"{runner.holder}: {runner.running} of {runner.places} places taken")
        self.stdout.write(f"{len(alive)} alive, {waiting().count()} turns wait for a place")
        if len(alive) < options["at_least"]:
            raise SystemExit(1)
