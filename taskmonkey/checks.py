"""Set-ups that are half done: each is refused at the start, with what to change."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import OperationalError, connection

EXECUTORS = ("inprocess", "celery", "manual")
EXTRAS = "pip install -r requirements-telemetry.in"
# Seconds that a server may take to answer at a start.
PATIENCE = 5


@register("taskmonkey")
def check_profile(**_: Any) -> list[CheckMessage]:
    """Finds settings from the environment that do not go together (issue 5, item 1)."""
    return [*_processes(), *_hosts(), *_extras(), *_addresses()]


@register("taskmonkey")
def check_services(**_: Any) -> list[CheckMessage]:
    """Asks PostgreSQL and Redis, where they are named, whether they let this site in."""
    return [*_postgres(), *_redis()]


def _processes() -> Iterator[CheckMessage]:
    executor, redis, sqlite = settings.TASKMONKEY["EXECUTOR"], settings.REDIS_URL, connection.vendor == "sqlite"
    if executor not in EXECUTORS:
        yield _error(1, "TASKMONKEY_EXECUTOR names no way to run turns.", "Set it to celery, or leave it unset.")
    if executor == "celery" and not redis:
        yield _error(2, "Workers hear of turns over Redis, and REDIS_URL is not set.", "Set REDIS_URL=redis://host:6379/0.")
    if executor == "celery" and sqlite:
        fix = "Set DATABASE_URL=postgres://…, or leave TASKMONKEY_EXECUTOR unset: one process with SQLite needs no workers."
        yield _error(3, "Several processes can't share a SQLite file, and celery means several.", fix)
    number = os.environ.get("TASKMONKEY_WEB_PROCESSES", "1")
    if not number.isdigit() or int(number) < 1:
        yield _error(4, "TASKMONKEY_WEB_PROCESSES is not a number of processes.", "Write how many there are, such as 2.")
    elif int(number) > 1 and not redis:
        yield _error(5, f"{number} web processes can't tell each other what is new: REDIS_URL is not set.", "Set REDIS_URL.")
    elif int(number) > 1 and sqlite:
        yield _error(
            6, f"{number} web processes can't share a SQLite file.", "Set DATABASE_URL=postgres://…, or use one process."
        )


def _hosts() -> Iterator[CheckMessage]:
    shared = connection.vendor != "sqlite" or bool(settings.REDIS_URL)
    if shared and not os.environ.get("TASKMONKEY_SECRET_KEY"):
        fix = "Set TASKMONKEY_SECRET_KEY to one long random text for all of them, such as that in its secret.key."
        yield _error(7, "Processes on several machines would each make a secret key of their own.", fix)
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        fix = "Name the hosts, such as TASKMONKEY_HOSTS=chat.example.org,localhost."
        yield _error(8, "TASKMONKEY_HOSTS=* takes any name that a visitor sends for this site's own.", fix)


def _extras() -> Iterator[CheckMessage]:
    if settings.METRICS_TOKEN and not find_spec("prometheus_client"):
        yield _error(9, "TASKMONKEY_METRICS_TOKEN is set, and prometheus-client is not installed.", f"{EXTRAS}, or unset it.")
    if settings.TRACES and not (find_spec("opentelemetry.sdk") and find_spec("opentelemetry.exporter")):
        yield _error(10, "TASKMONKEY_TRACES is set, and the OpenTelemetry SDK is not installed.", f"{EXTRAS}, or unset it.")


def _addresses() -> Iterator[CheckMessage]:
    if not settings.REDIS_URL:
        return
    from redis.connection import parse_url

    try:
        scheme = urlsplit(settings.REDIS_URL).scheme
        parse_url(settings.REDIS_URL)  # type: ignore[no-untyped-call]
    except ValueError:
        scheme = ""
    if scheme not in ("redis", "rediss"):
        yield _error(11, "REDIS_URL can't be read.", "Write redis://:password@host:6379/0, or rediss:// for TLS.")


def _postgres() -> Iterator[CheckMessage]:
    if connection.vendor != "postgresql":
        return
    # Not by the pool, which keeps trying and forgets why it failed.
    alone = connection.copy()
    alone.settings_dict["OPTIONS"] |= {"pool": None, "connect_timeout": PATIENCE}
    try:
        alone.ensure_connection()
    except OperationalError as error:
        # It names host, port, user and database, never a password.
        fix = "Start it, or correct DATABASE_URL: postgres://user:password@host:5432/name, with / and @ written as %2F and %40."
        yield _error(12, f"PostgreSQL can't be used: {' '.join(str(error).split())[:400]}", fix)
    finally:
        alone.close()


def _redis() -> Iterator[CheckMessage]:
    """Only a warning: without it pages are slow and lose nothing (P10)."""
    if not settings.REDIS_URL or [*_addresses()]:
        return
    from redis import Redis, RedisError

    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE) as client:
            client.ping()
    except RedisError as error:
        told = f"Redis does not answer ({type(error).__name__}): pages and workers are seconds late until it does."
        yield Warning(told, hint="Start it, or correct REDIS_URL: redis://:password@host:6379/0.", id="taskmonkey.W013")


def _error(number: int, text: str, fix: str) -> Error:
    return Error(text, hint=fix, id=f"taskmonkey.E{number:03}")
