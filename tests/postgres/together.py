"""Does things at the same moment, each in a thread with a connection of its own; and cuts connections off."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from django.db import connection


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each returned, or the exception that it raised; all begin when the last thread is ready."""
    start = threading.Barrier(len(works))

    def alone(work: Callable[[], Any]) -> Any:
        try:
            start.wait(30)
            return work()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(alone, works))


def failures(results: Sequence[Any]) -> list[Exception]:
    return [each for each in results if isinstance(each, Exception)]


def cut_all_connections() -> int:
    """Ends every connection to this database but its own, as a restart of the server does; gives how many."""
    with outside() as admin:
        found = admin.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    return int(found[0])


def until_somebody_waits() -> None:
    """Returns once another connection to this database waits for a row that is locked."""
    end = time.monotonic() + 30
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with outside() as admin:
        while admin.execute(waiting).fetchone() is None:
            assert time.monotonic() < end, "nobody waits"
            time.sleep(0.02)


def outside() -> psycopg.Connection[Any]:
    """A connection that Django knows nothing of."""
    told = connection.settings_dict
    return psycopg.connect(
        dbname=told["NAME"], user=told["USER"], password=told["PASSWORD"], host=told["HOST"], port=told["PORT"], autocommit=True
    )
