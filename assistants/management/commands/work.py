"""Runs turns in a process of their own, next to web processes: hears the bell over Celery, and sweeps."""

import logging
import os
import socket
import sys
import threading
import time
import warnings
from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from assistants import tracing
from assistants.management.server import prepare_models
from assistants.management.supervisor import die_with
from assistants.turns import executors
from assistants.turns.engine import start_engine
from assistants.turns.relay import start_relay

# Seconds that a model call may go on after SIGTERM, before its turn is given back (F11).
PATIENCE = 12.0


class Command(BaseCommand):
    help = "Runs turns until SIGTERM; then takes up no more and gives back what it can't finish within seconds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slot", default=f"worker-{os.getpid()}", help="a name that stays when this worker starts anew")
        parser.add_argument("--lifeline-fd", type=int, help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.TASKMONKEY["EXECUTOR"] != "celery" or not settings.REDIS_URL:
            raise CommandError("A worker hears the bell over Redis: set REDIS_URL and TASKMONKEY_EXECUTOR=celery.")
        if options["lifeline_fd"] is not None:
            threading.Thread(target=die_with, args=(options["lifeline_fd"],), name="lifeline", daemon=True).start()
        prepare_models()
        start_relay(settings.REDIS_URL, prefix=settings.REDIS_PREFIX)
        start_engine(options["slot"])
        listen_for_bells(options["slot"])
        executors.drain(PATIENCE, rest=time.sleep)
        # As in the server: nothing that matters happens at exit.
        tracing.stop()
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)


def listen_for_bells(slot: str) -> None:
    """Takes up what is rung for until a signal ends it; a broker that is gone is waited for, while the sweeper goes on."""
    from celery import current_app
    from celery.platforms import SecurityWarning

    # Only numbers are taken from a message, never code, whoever this process runs as.
    warnings.simplefilter("ignore", SecurityWarning)
    worker = current_app.Worker(
        hostname=f"{slot}@{socket.gethostname()}",
        # The tasks only hand a number over, so few threads are plenty; the turns have the executor's own.
        pool_cls="threads",
        concurrency=2,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    worker.start()
