"""DATABASE_URL: what it may say, and what is told of it otherwise; never the password that it holds."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from taskmonkey.databases import read_database_url

HOME, BASE = Path("/folder/of/data"), Path("/base")


def read(url: str) -> dict:
    return read_database_url(url, home=HOME, base=BASE)


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("", "/folder/of/data/taskmonkey.sqlite3"),
        ("  ", "/folder/of/data/taskmonkey.sqlite3"),
        ("sqlite:////srv/chat.sqlite3", "/srv/chat.sqlite3"),
        ("sqlite:///near.sqlite3", "/base/near.sqlite3"),
        ("sqlite:////srv/with%20space.db", "/srv/with space.db"),
    ],
)
def test_sqlite_is_a_file_and_needs_no_address(url, file):
    found = read(url)

    assert str(found["NAME"]) == file and "sqlite" in found["ENGINE"]
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_postgres_is_reached_through_a_bounded_pool_and_never_waited_for_without_end(monkeypatch):
    monkeypatch.setenv("TASKMONKEY_DATABASE_POOL", "7")
    monkeypatch.setenv("TASKMONKEY_STATEMENT_SECONDS", "5")

    found = read("postgres://chat:p%40ss%2Fword@db.example:5433/team?sslmode=require")

    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"]) == ("chat", "p@ss/word", "db.example", "5433")
    options = found["OPTIONS"]
    assert options["pool"]["max_size"] == 7 and 0 < options["pool"]["timeout"] <= 10
    assert (options["sslmode"], options["connect_timeout"]) == ("require", 10)
    assert "statement_timeout=5000" in options["options"] and "lock_timeout=20000" in options["options"]
    # A pool takes connections of its own only: Django would keep one for each thread otherwise.
    assert found["CONN_MAX_AGE"] == 0
    # Our own look at a connection does not sleep after each that was cut; Django's would be beside it.
    assert found["ENGINE"] == "taskmonkey.postgres" and not found["CONN_HEALTH_CHECKS"]


def test_a_socket_s_folder_can_be_named():
    assert read("postgresql://chat@/team?host=/run/postgresql")["HOST"] == "/run/postgresql"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://chat:sEcret@db/team",
        "team.sqlite3",
        "postgres://chat:sEcret@db/",
        "postgres://chat:sEcret@db:five/team",
        "postgres://chat:sEc/ret@db/team",
        "postgres://chat:sEcret@db/team?color=sEcret",
        "sqlite://:memory:",
        "sqlite:///",
    ],
)
def test_anything_else_is_refused_with_what_to_write_and_without_the_password(url):
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(url)

    told = str(refusal.value)
    assert "DATABASE_URL" in told and ("postgres://user:password@host" in told or "it may have" in told)
    assert "sEc" not in told.replace("may have", "")


@pytest.mark.parametrize("name", ["TASKMONKEY_DATABASE_POOL", "TASKMONKEY_STATEMENT_SECONDS", "TASKMONKEY_LOCK_SECONDS"])
@pytest.mark.parametrize("value", ["many", "-1", "1.5"])
def test_a_bound_that_is_no_number_is_refused_by_its_name(monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured, match=name):
        read("postgres://chat@db/team")


def test_a_pool_of_one_is_refused(monkeypatch):
    monkeypatch.setenv("TASKMONKEY_DATABASE_POOL", "1")

    with pytest.raises(ImproperlyConfigured, match="at least 2"):
        read("postgres://chat@db/team")
