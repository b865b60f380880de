"""What is half set up does not start, and says what to change (issue 5, item 1)."""

import json
import os
import subprocess
import sys

import pytest

from assistants.management.commands.team import leave_for_others
from taskmonkey.checks import check_profile
from tests.serve.conftest import ROOT


class Postgres:
    vendor = "postgresql"


class Sqlite:
    vendor = "sqlite"


@pytest.fixture
def profile(settings, monkeypatch):
    """Sets the site up as the variables say; gives the numbers of what is refused."""
    settings.TASKMONKEY = {**settings.TASKMONKEY, "EXECUTOR": "inprocess"}
    settings.REDIS_URL = ""
    monkeypatch.delenv("TASKMONKEY_SECRET_KEY", raising=False)

    def refused(*, postgres=False, **changes):
        monkeypatch.setattr("taskmonkey.checks.connection", Postgres if postgres else Sqlite)
        for name, value in changes.items():
            if name == "EXECUTOR":
                settings.TASKMONKEY = {**settings.TASKMONKEY, name: value}
            elif name.startswith("TASKMONKEY_"):
                monkeypatch.setenv(name, value)
            else:
                setattr(settings, name, value)
        found = check_profile()
        assert all(message.hint for message in found)
        return [message.id.removeprefix("taskmonkey.") for message in found]

    return refused


TEAM = {"postgres": True, "REDIS_URL": "redis://r", "EXECUTOR": "celery", "TASKMONKEY_SECRET_KEY": "x" * 50}


def test_one_process_on_one_machine_needs_nothing(profile):
    assert profile() == []


def test_a_whole_team_is_whole(profile):
    assert profile(**TEAM, TASKMONKEY_WEB_PROCESSES="2") == []


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"EXECUTOR": "threads"}, ["E001"]),
        ({"EXECUTOR": "celery"}, ["E002", "E003"]),
        ({**TEAM, "REDIS_URL": ""}, ["E002"]),
        ({**TEAM, "postgres": False}, ["E003"]),
        ({"TASKMONKEY_WEB_PROCESSES": "two"}, ["E004"]),
        ({"TASKMONKEY_WEB_PROCESSES": "0"}, ["E004"]),
        ({"TASKMONKEY_WEB_PROCESSES": "2"}, ["E005"]),
        ({"TASKMONKEY_WEB_PROCESSES": "2", "REDIS_URL": "redis://r", "TASKMONKEY_SECRET_KEY": "x"}, ["E006"]),
        ({"postgres": True}, ["E007"]),
        ({"REDIS_URL": "redis://r"}, ["E007"]),
        *[({**TEAM, "REDIS_URL": url}, ["E011"]) for url in ("127.0.0.1:6379", "http://r", "redis://r:port", "unix:///r")],
        ({"ALLOWED_HOSTS": ["localhost", "*"]}, ["E008"]),
        ({"ALLOWED_HOSTS": ["*"], "DEBUG": True}, []),
        ({"METRICS_TOKEN": "t"}, []),
    ],
)
def test_what_does_not_go_together_is_refused(profile, changes, refused):
    assert profile(**changes) == refused


def test_a_team_asks_its_services_before_it_starts_anything_and_makes_up_no_key_that_others_lack(tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TASKMONKEY_", "DJANGO_"))}
    named = {"DATABASE_URL": "postgres://ann:hush@127.0.0.1:1/site", "REDIS_URL": "redis://:hush@127.0.0.1:1/0"}
    command = [sys.executable, "manage.py", "team", "--no-prepare", "--port=0"]

    done = subprocess.run(
        command, cwd=ROOT, env=kept | named | {"TASKMONKEY_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 1 and "Starting processes" not in done.stdout
    for told in ("taskmonkey.E007", "taskmonkey.E012", "Connection refused", "DATABASE_URL", "taskmonkey.W013", "REDIS_URL"):
        assert told in done.stderr
    assert "hush" not in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_what_a_team_leaves_for_other_commands_lets_them_start(profile, tmp_path):
    found = {"DATABASE_URL": "postgres://taskmonkey:k@127.0.0.1:1/postgres", "REDIS_URL": "redis://r"}

    leave_for_others(found, tmp_path)

    script = f". {tmp_path}/team.env && exec {sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    told = json.loads(subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout)
    assert {name: told[name] for name in found} == found
    key = told["TASKMONKEY_SECRET_KEY"]
    changes = {"postgres": True, "REDIS_URL": told["REDIS_URL"], "EXECUTOR": told["TASKMONKEY_EXECUTOR"]}
    assert profile(**changes, TASKMONKEY_SECRET_KEY=key) == []
    assert (tmp_path / "team.env").stat().st_mode & 0o077 == 0


def test_a_wish_for_figures_or_traces_without_their_libraries_is_refused(profile, monkeypatch):
    monkeypatch.setattr("taskmonkey.checks.find_spec", lambda name: None)

    assert profile(METRICS_TOKEN="t", TRACES=True) == ["E009", "E010"]


def test_the_server_does_not_start_and_says_what_to_change(tmp_path):
    environment = {**os.environ, "TASKMONKEY_HOME": str(tmp_path), "TASKMONKEY_WEB_PROCESSES": "2"}
    for name in ("REDIS_URL", "DATABASE_URL"):
        environment.pop(name, None)

    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port=0"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "2 web processes can't tell each other what is new" in done.stderr
    assert "Set REDIS_URL." in done.stderr
