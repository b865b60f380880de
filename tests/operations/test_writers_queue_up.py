"""SQLite lets one writer in at a time: the threads of a process wait for each other in front of it, and share open files."""

import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db.utils import OperationalError

from taskmonkey.databases import read_database_url
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


def write(connection, *, hold=0.0):
    begin(connection)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = number + 1")
    time.sleep(hold)
    connection.commit()
    connection.set_autocommit(True)


def number(connection):
    with connection.cursor() as cursor:
        return cursor.execute("SELECT number FROM tally").fetchone()[0]


def test_forty_threads_that_write_at_once_all_get_in(opened):
    connections = [opened() for _ in range(40)]

    with ThreadPoolExecutor(40) as pool:
        done = list(pool.map(lambda each: [write(each, hold=0.002) for _ in range(5)], connections))

    assert len(done) == 40 and number(connections[0]) == 200


def test_a_write_without_a_transaction_waits_for_one_that_runs(opened):
    slow, quick = opened(), opened()
    running = threading.Thread(target=write, args=(slow,), kwargs={"hold": 0.2})
    running.start()
    time.sleep(0.05)

    with quick.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = number * 10")
    running.join()

    assert number(quick) == 10


def test_whoever_waits_too_long_is_told_so_and_the_next_one_gets_in(opened):
    slow, hasty = opened(), opened(timeout=0.1)
    running = threading.Thread(target=write, args=(slow,), kwargs={"hold": 0.4})
    running.start()
    time.sleep(0.05)

    with pytest.raises(OperationalError, match="locked"):
        write(hasty)
    running.join()
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


def test_a_transaction_that_need_not_wait_for_the_disk_is_kept_all_the_same_and_the_next_one_waits_again(opened, monkeypatch):
    monkeypatch.setenv("TASKMONKEY_SQLITE_SYNCHRONOUS", "FULL")
    hasty, reader, levels = opened(), opened(), []

    hasty.waits_for_disk = False
    begin(hasty)
    with hasty.cursor() as cursor:
        cursor.execute("UPDATE tally SET number = 5")
        levels.append(cursor.execute("PRAGMA synchronous").fetchone()[0])
    hasty.commit()
    hasty.set_autocommit(True)
    hasty.waits_for_disk = True
    with hasty.cursor() as cursor:
        levels.append(cursor.execute("PRAGMA synchronous").fetchone()[0])

    assert levels == [1, 2] and number(reader) == 5
