"""SQLite lets one writer in at a time: the threads of a process wait for each other in front of it, and share open files."""

import errno
import os
import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db.utils import OperationalError

from assistants import durability, units
from taskmonkey.databases import read_database_url
from taskmonkey.sqlite import base
from taskmonkey.sqlite.base import DatabaseWrapper

DEFAULTS = {"AUTOCOMMIT": True, "CONN_HEALTH_CHECKS": False, "TIME_ZONE": None, "TEST": {}}


@pytest.fixture
def opened(tmp_path, django_db_blocker):
    """Gives connections to one database file, as many as asked for; closes them at the end."""
    made = []

    def connect(timeout=20):
        known = {**read_database_url("", home=tmp_path, base=tmp_path), **DEFAULTS}
        known["OPTIONS"] = {**known["OPTIONS"], "timeout": timeout}
        made.append(DatabaseWrapper(known, alias="other"))
        made[-1].inc_thread_sharing()
        return made[-1]

    with django_db_blocker.unblock():
        with connect().cursor() as cursor:
            cursor.execute("CREATE TABLE tally (number INTEGER)")
            cursor.execute("INSERT INTO tally VALUES (0)")
        yield connect
        for each in made:
            each.close()


def begin(connection):
    """As `transaction.atomic` does it."""
    connection.ensure_connection()
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def write(connection, *, meanwhile=lambda: None):
    begin(connection)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = number + 1")
    meanwhile()
    connection.commit()
    connection.set_autocommit(True)


@contextmanager
def holding(connection):
    """Another thread writes, and keeps everybody out until it is told to let go, at the latest at the end."""
    begun, go_on = threading.Event(), threading.Event()
    running = threading.Thread(target=write, args=(connection,), kwargs={"meanwhile": lambda: (begun.set(), go_on.wait(60))})
    running.start()
    assert begun.wait(60)
    try:
        yield go_on.set
    finally:
        go_on.set()
        running.join()


def number(connection):
    with connection.cursor() as cursor:
        return cursor.execute("SELECT number FROM tally").fetchone()[0]


def test_forty_threads_that_write_at_once_all_get_in(opened):
    connections = [opened() for _ in range(40)]

    with ThreadPoolExecutor(40) as pool:
        done = list(pool.map(lambda each: [write(each, meanwhile=lambda: time.sleep(0.002)) for _ in range(5)], connections))

    assert len(done) == 40 and number(connections[0]) == 200


def test_a_write_without_a_transaction_waits_for_one_that_runs(opened):
    slow, quick = opened(), opened()
    with holding(slow) as let_go:
        threading.Timer(0.2, let_go).start()
        with quick.cursor() as cursor:
            cursor.execute("UPDATE tally SET number = number * 10")

    assert number(quick) == 10


def test_whoever_waits_too_long_is_told_so_and_the_next_one_gets_in(opened):
    slow, hasty = opened(), opened(timeout=0.1)

    with holding(slow), pytest.raises(OperationalError, match="locked"):
        write(hasty)
    write(hasty)

    assert number(hasty) == 2


def test_a_transaction_that_is_given_up_lets_the_next_one_in(opened):
    failing, closing, next_one = opened(), opened(), opened(timeout=1)

    begin(failing)
    failing.rollback()
    begin(closing)
    closing.close()
    write(next_one)

    assert number(next_one) == 1


def test_a_connection_that_is_let_go_is_used_by_the_next_thread(opened):
    first = opened()
    number(first)
    raw = first.connection
    first.close()

    second = opened()

    assert number(second) == 0 and second.connection is raw


def test_a_thread_that_waits_for_something_else_leaves_its_connection_to_the_next_one(opened, monkeypatch):
    first, second = opened(), opened()
    monkeypatch.setattr(units, "connection", first)
    number(first)
    raw = first.connection

    units.let_go()

    assert number(second) == 0 and second.connection is raw and first.connection is None


def test_within_a_transaction_it_is_kept(opened, monkeypatch):
    first = opened()
    monkeypatch.setattr(units, "connection", first)

    begin(first)
    first.in_atomic_block = True
    units.let_go()

    assert first.connection is not None
    first.in_atomic_block = False
    first.rollback()


def test_a_file_that_took_the_place_of_another_is_opened_anew(opened, tmp_path):
    first = opened()
    write(first)
    with first.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path = tmp_path / "taskmonkey.sqlite3"
    shutil.copy(path, tmp_path / "restored")
    raw = first.connection
    first.close()

    os.replace(tmp_path / "restored", path)
    second = opened()

    assert number(second) == 1 and second.connection is not raw


@pytest.fixture
def synced(monkeypatch, tmp_path):
    """For each time that somebody waited for the disk: whether it was for the log."""
    monkeypatch.setenv("TASKMONKEY_SQLITE_SYNCHRONOUS", "FULL")
    waits, real = [], base.to_disk

    def to_disk(descriptor):
        waits.append(os.path.samestat(os.fstat(descriptor), os.stat(tmp_path / "taskmonkey.sqlite3-wal")))
        real(descriptor)

    monkeypatch.setattr(base, "to_disk", to_disk)
    return waits


def test_what_is_committed_is_on_the_disk_before_the_commit_is_over(synced, opened):
    connection = opened()
    del synced[:]

    write(connection)
    assert synced == [True]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = 7")
    assert synced == [True, True]


def test_a_transaction_that_changes_nothing_or_is_given_up_waits_for_no_disk(synced, opened):
    connection = opened()
    del synced[:]

    begin(connection)
    number(connection)
    connection.commit()
    connection.set_autocommit(True)
    begin(connection)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = 5")
    connection.rollback()
    connection.set_autocommit(True)
    begin(connection)
    number(connection)
    connection.commit()

    assert synced == []


def test_a_transaction_that_need_not_wait_for_the_disk_is_kept_all_the_same_and_the_next_one_waits_again(synced, opened):
    hasty, reader = opened(), opened()
    del synced[:]

    hasty.waits_for_disk = False
    write(hasty)
    hasty.waits_for_disk = True
    assert synced == [] and number(reader) == 1

    write(hasty)
    assert synced == [True] and number(reader) == 2


def test_a_connection_that_is_used_again_waits_for_the_disk_as_before(synced, opened):
    first = opened()
    write(first)
    raw = first.connection
    first.close()
    second = opened()
    del synced[:]

    write(second)

    assert second.connection is raw and synced == [True]


def test_nobody_is_kept_from_writing_while_another_waits_for_the_disk(synced, opened, monkeypatch):
    slow, quick = opened(), opened(timeout=1)
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(
        base, "to_disk", lambda _: (begun.set(), go_on.wait(60)) if threading.current_thread() is waiting else None
    )
    waiting = threading.Thread(target=write, args=(slow,))
    waiting.start()
    assert begun.wait(10)

    write(quick)

    assert waiting.is_alive() and number(quick) == 2
    go_on.set()
    waiting.join(10)


def test_a_disk_that_fails_is_told_of(synced, opened, monkeypatch):
    connection = opened()

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(base, "to_disk", fail)

    with pytest.raises(OperationalError, match="disk I/O error"):
        write(connection)


def test_commits_that_need_not_wait_at_all_never_do(synced, opened, monkeypatch):
    opened().close()
    monkeypatch.setenv("TASKMONKEY_SQLITE_SYNCHRONOUS", "NORMAL")
    base._idle.clear()
    connection = opened()
    del synced[:]

    write(connection)

    assert synced == []


def test_the_log_is_moved_into_the_file_beside_the_writers(opened, tmp_path, monkeypatch):
    writer, mover = opened(), opened()
    write(writer)
    monkeypatch.setattr(durability, "connection", mover)

    begin(writer)
    durability.checkpoint()
    writer.rollback()

    with mover.cursor() as cursor:
        _, in_log, moved = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert in_log == moved > 0
    with sqlite3.connect(f"file:{tmp_path / 'taskmonkey.sqlite3'}?immutable=1", uri=True) as alone:
        assert alone.execute("SELECT number FROM tally").fetchone() == (1,)


@pytest.mark.parametrize("params", [["50%", 7], {"left": "50%", "right": 7}], ids=["by place", "by name"])
def test_a_statement_that_was_known_before_gets_its_parameters_like_a_new_one(opened, params):
    blanks = ("%s", "%s") if isinstance(params, list) else ("%(left)s", "%(right)s")
    with opened().cursor() as cursor:
        for _ in range(2):
            cursor.execute(f"select {blanks[0]}, {blanks[1]}, '%%s', 5 %% 3", params)
            assert cursor.fetchone() == ("50%", 7, "%s", 2)
