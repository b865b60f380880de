"""A backup is taken while somebody writes, and is a whole site in another home (P1)."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from tests.serve.conftest import ROOT

# Sends messages in one process, as a server would, and says how many are in.
WRITER = """
import django
django.setup()
from assistants.models import Assistant, User
from assistants.turns import lifecycle
from assistants.turns.loop import run_turn
lead = Assistant.objects.filter(public=False, enabled=True, internal=False).order_by("pk").first()
who = User.objects.get(username="admin")
for number in range(100_000):
    thread = lifecycle.open_thread(lead, owner=who, text=f"Message number {number}")
    run_turn(thread.turns.get().pk)
    print(number, flush=True)
"""
READER = """
import django
django.setup()
from assistants.models import LLMProfile, Thread
threads = Thread.objects.filter(parent=None, title__startswith="Message number").order_by("pk")
print(len(threads))
for thread in threads:
    asked, answered = thread.messages.get(role="user"), thread.messages.filter(role="assistant").last()
    assert asked.text == thread.title, asked.text
print(LLMProfile.objects.get(name="kept").get_key())
"""


def run(home: Path, *command: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment(home), text=True, capture_output=True, **more)


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TASKMONKEY_", "DJANGO_", "DATABASE"))}
    own = {"TASKMONKEY_HOME": str(home), "TASKMONKEY_MODEL": "builtin", "TASKMONKEY_EXECUTOR": "manual"}
    return kept | own | {"DJANGO_SETTINGS_MODULE": "taskmonkey.settings", "TASKMONKEY_SQLITE_SYNCHRONOUS": "OFF"}


def test_a_backup_under_load_restores_to_a_whole_site_with_its_keys(tmp_path):
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "backup.zip"
    key = "from assistants.models import *; p = LLMProfile(tenant=Tenant.objects.get(), name='kept', provider='openai')"
    for command in (["migrate", "-v0"], ["demo"], ["shell", "-v0", "-c", f"{key}; p.set_key('sk-kept'); p.save()"]):
        done = run(old, "manage.py", *command)
        assert done.returncode == 0, done.stderr

    writer = subprocess.Popen([sys.executable, "-c", WRITER], cwd=ROOT, env=environment(old), text=True, stdout=subprocess.PIPE)
    for _ in range(5):
        writer.stdout.readline()
    done = run(old, "manage.py", "backup", str(file))
    still_writing = writer.poll() is None
    writer.kill()
    said = writer.communicate()[0]

    assert done.returncode == 0, done.stderr
    assert still_writing
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with zipfile.ZipFile(file) as pack:
        assert set(pack.namelist()) == {"taskmonkey.sqlite3", "secret.key"}
        pack.extractall(new)
    with sqlite3.connect(new / "taskmonkey.sqlite3") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("PRAGMA foreign_key_check").fetchall() == []
    copy.close()
    assert run(new, "manage.py", "migrate", "--check").returncode == 0
    read = run(new, "-c", READER)
    assert read.returncode == 0, read.stderr
    count, stored = read.stdout.split()
    assert 5 <= int(count) <= 5 + len(said.split()) + 1
    assert stored == "sk-kept"


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has pg_dump")
def test_a_backup_overwrites_nothing_and_says_why_it_can_not_write(db, tmp_path):
    there = tmp_path / "there.zip"
    there.write_text("mine")

    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(there))
    with pytest.raises(CommandError, match="could not be written: No such file or directory"):
        call_command("backup", str(tmp_path / "nowhere" / "x.zip"))

    assert there.read_text() == "mine"
    assert json.dumps([each.name for each in tmp_path.iterdir()]) == '["there.zip"]'
