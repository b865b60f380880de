"""Several processes that live and end together, and the private servers they need (make team)."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from assistants.errors import CodedError
from assistants.management import private_servers
from assistants.management.commands.team import _start_services
from assistants.management.team import Member, Team
from tests.faults.stores import open_folder, why_no_services

from .conftest import alive, kill, until

WAIT = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)",
]


@pytest.fixture
def team():
    made = Team()
    yield made
    made.stopping = True
    for member in made.members:
        member.grace = 0.0
    made.end()


def member(name, command=WAIT, **more):
    return Member(name, command, dict(os.environ), **more)


def watch(team):
    thread = threading.Thread(target=team.watch, daemon=True)
    thread.start()
    return thread


def test_a_member_that_dies_is_started_again_and_the_others_are_left_alone(team):
    one, two = member("worker1"), member("worker2")
    team.join(one)
    team.join(two)
    watching = watch(team)
    first, other = one.process.pid, two.process.pid

    kill(first)

    until(lambda: one.process.pid != first and one.alive)
    assert two.process.pid == other and two.alive
    team.stopping = True
    watching.join(60)


def test_all_end_together_and_who_does_not_listen_is_killed_when_its_time_is_up(team, tmp_path):
    calm, deaf = member("web1"), member("worker1", STUBBORN, grace=0.5, log=tmp_path / "deaf.log")
    for each in (calm, deaf):
        team.join(each)
    until(lambda: "deaf" in (tmp_path / "deaf.log").read_text())

    started = time.monotonic()
    team.end()

    assert not calm.alive and not deaf.alive
    assert (calm.process.returncode, deaf.process.returncode) == (-signal.SIGTERM, -signal.SIGKILL)
    assert time.monotonic() - started < 10


def test_a_member_that_can_not_start_is_named(team, tmp_path):
    broken = member("web1", [sys.executable, "-c", "raise SystemExit('no')"], log=tmp_path / "web.log")

    with pytest.raises(RuntimeError, match="web1 did not start; what it said stands in .*web.log"):
        team.join(broken, until=lambda: False, within=10)


def test_who_is_waited_for_in_vain_is_named_and_not_somebody_who_is_there(team):
    team.join(member("postgres"))
    team.join(member("web1"))

    with pytest.raises(RuntimeError, match="web1 is not ready after 0.1 seconds"):
        team.wait(lambda: False, within=0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="only the kernel of Linux tells a child of its parent's death")
def test_members_do_not_outlive_a_team_that_was_killed(tmp_path):
    script = (
        "import os, sys, time\n"
        "from assistants.management.team import Member, Team\n"
        "team = Team()\n"
        "team.join(Member('web1', [sys.executable, '-c', 'import time; time.sleep(60)'], dict(os.environ)))\n"
        "print(team.members[0].process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    leader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with leader:
        child = int(leader.stdout.readline())
        kill(leader.pid)

    until(lambda: not alive(child))


@pytest.mark.parametrize("make", [private_servers.postgres, private_servers.redis])
def test_a_port_that_another_team_takes_while_a_server_is_made_is_left_to_it(tmp_path, monkeypatch, make):
    if missing := why_no_services():
        pytest.skip(missing)
    wanted = private_servers.free_port(0)
    with socket.socket() as late:

        def meanwhile(folder):
            late.bind(("127.0.0.1", wanted))
            late.listen()
            return {}

        monkeypatch.setattr(private_servers, "unprivileged", meanwhile)
        monkeypatch.setattr(private_servers, "_make_cluster", lambda *_: None)
        (tmp_path / "postgres.key").write_text("key")
        service = make(tmp_path / "made", wanted)

    assert service.port != wanted and str(wanted) not in service.url


def test_a_second_team_in_one_folder_leaves_the_settings_of_the_first_ones_redis_alone(team, tmp_path, monkeypatch):
    """PostgreSQL refuses a second server on its data, so the second team ends there, before it has changed anything."""
    settings = tmp_path / "redis" / "redis.conf"
    settings.parent.mkdir()
    settings.write_text("of the first")
    refuses = [sys.executable, "-c", "raise SystemExit(1)"]
    service = private_servers.Service("postgres", refuses, "postgres://nobody", private_servers.free_port(0))

    def postgres(folder, wanted):
        return service

    monkeypatch.setattr(private_servers, "postgres", postgres)

    with pytest.raises(RuntimeError, match="postgres did not start"):
        _start_services(team, tmp_path)

    assert settings.read_text() == "of the first"


@pytest.mark.skipif(private_servers.find_postgres() is None, reason="no PostgreSQL on this machine")
def test_nobody_gets_into_the_private_database_without_its_key():
    import psycopg

    # Pytest's own folder lets no other account through, and the server may run under one.
    tmp_path = open_folder()
    service = private_servers.postgres(tmp_path / "postgres", 0)
    made = Member(
        "postgres", service.command, dict(os.environ), 20, signal.SIGINT, account=service.account, log=tmp_path / "log"
    )
    team = Team()
    try:
        team.join(made, until=lambda: can_connect(service.url), within=30)
        key = service.url.split(":")[2].split("@")[0]
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(service.url.replace(key, "guessed"))
        assert os.stat(tmp_path / "postgres.key").st_mode & 0o077 == 0
    finally:
        team.end()
        shutil.rmtree(tmp_path)


def can_connect(url):
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_service_that_is_missing_is_told_of_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(private_servers, "find_postgres", lambda: None)
    monkeypatch.setattr(private_servers.shutil, "which", lambda name: None)

    for make, package in ((private_servers.postgres, "postgresql"), (private_servers.redis, "redis-server")):
        with pytest.raises(CodedError) as refused:
            make(tmp_path / package, 1)
        assert f"apt install {package}" in refused.value.fix
