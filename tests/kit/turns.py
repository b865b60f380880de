"""Runs turns in the test's own thread, so that a test decides when and in which order things happen."""

from django.db import connection, transaction

from assistants.models import Thread, Turn
from assistants.turns import executors
from assistants.turns.loop import run_turn


def forget() -> None:
    executors.rung.clear()
    executors.jobs.clear()


def commit_hooks() -> None:
    """Runs what waits for a commit: tests live inside one transaction that never commits."""
    while connection.run_on_commit:
        hooks, connection.run_on_commit = connection.run_on_commit, []
        for _, hook, _ in hooks:
            with transaction.atomic():
                hook()


def run_all(limit: int = 200) -> None:
    """Runs every turn that was rung for until nothing is left to do."""
    for _ in range(limit):
        commit_hooks()
        if not executors.rung:
            return
        run_turn(executors.rung.pop(0))
    raise AssertionError("the turns did not come to rest")


def run_jobs() -> None:
    """Does what was to be done beside the turns."""
    commit_hooks()
    while executors.jobs:
        executors.jobs.pop(0)()
        commit_hooks()


def last_turn(thread: Thread) -> Turn:
    return thread.turns.order_by("-pk").first()


def replies(thread: Thread) -> list[str]:
    """The texts of the assistant's messages, in order."""
    return [message.text for message in thread.messages.filter(role="assistant").order_by("sequence")]
