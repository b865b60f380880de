"""`/healthz` says that the process lives, `/readyz` that it can serve, and neither says anything else."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from assistants import clock, health
from assistants.turns import engine, hub


@pytest.fixture(autouse=True)
def looks_afresh(monkeypatch):
    """Nothing is kept from another test, and what a test adds is forgotten."""
    monkeypatch.setattr(health, "_kept", None)
    monkeypatch.setattr(health, "_migrated", False)
    monkeypatch.setattr(health, "_parts", dict(health._parts))
    monkeypatch.setattr(engine, "_rounds", {})


class Breaking(Exception):
    """A part that fails with words that nobody may read."""


def broken() -> None:
    raise Breaking("postgres://alice:hunter2@db/answers")


def test_a_process_that_lives_says_so_without_asking_the_database():
    answer = Client().get("/healthz")  # without the `db` fixture a query would raise

    assert (answer.status_code, answer.json()) == (200, {"ok": True})


def test_a_site_whose_parts_all_work_is_ready(db):
    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"ok": True, "failing": [], "degraded": []})


def test_a_part_that_fails_is_named_and_its_words_reach_neither_the_answer_nor_the_log(db, caplog):
    health.register("storage", broken, required=True)

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["failing"]) == (503, ["storage"])
    assert b"hunter2" not in answer.content
    assert "not ready: storage (Breaking)" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_part_that_can_be_done_without_leaves_the_site_ready(db):
    health.register("documents", broken)

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["failing"], answer.json()["degraded"]) == (200, [], ["documents"])


def test_p10_a_site_whose_redis_is_gone_serves_on(db, monkeypatch):
    monkeypatch.setattr(hub, "is_healthy", lambda: False)

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["failing"], answer.json()["degraded"]) == (200, [], ["redis"])


def test_a_migration_that_is_not_in_yet_makes_the_site_not_ready(db):
    last = MigrationRecorder(connection).migration_qs.filter(app="assistants").order_by("-id").first()
    last.delete()

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["failing"]) == (503, ["migrations"])


def test_an_engine_that_has_not_got_round_for_too_long_is_named_once_in_the_log(db, monkeypatch, caplog):
    now = clock.monotonic()
    monkeypatch.setattr(engine, "_rounds", {"heartbeat": now, "sweeper": now})
    monkeypatch.setattr(engine, "_patience", {"heartbeat": 20.0, "sweeper": 30.0})
    first = Client().get("/readyz").status_code

    monkeypatch.setattr(clock, "monotonic", lambda: now + 25)
    late = Client().get("/readyz")
    monkeypatch.setattr(clock, "monotonic", lambda: now + 28)
    Client().get("/readyz")

    assert first == 200
    assert (late.status_code, late.json()["failing"]) == (503, ["engine"])
    assert caplog.text.count("not ready: engine (heartbeat stalled)") == 1


def test_many_who_ask_at_once_cost_one_look_a_second(db, monkeypatch):
    looks, now = [], clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    health.register("counted", lambda: looks.append(1))

    for _ in range(5):
        Client().get("/readyz")
    monkeypatch.setattr(clock, "monotonic", lambda: now + 1.5)
    Client().get("/readyz")

    assert len(looks) == 2
