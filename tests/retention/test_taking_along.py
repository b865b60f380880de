"""Everything of one person in one place, to read and for programs; and nothing of anybody else."""

import json
import stat
import zipfile
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from assistants.models import AuditEntry, Message, Thread, ToolCall
from assistants.retention.belongings import belongings_of
from tests.kit.browsers import PROGRAM, signed_in
from tests.retention import estate
from tests.retention.estate import NAMES, WORDS


@pytest.fixture
def left(ground, settings, tmp_path, monkeypatch):
    settings.EMAIL_FILE_PATH = tmp_path / "outbox"
    return estate.build(ground, monkeypatch, settings.EMAIL_FILE_PATH)


def export(name, target):
    out = StringIO()
    call_command("export_user", name, "--to", str(target), stdout=out)
    return out.getvalue()


def test_a_folder_holds_every_row_and_every_conversation(left, tmp_path):
    said = export(NAMES[0], tmp_path / "alicia")

    folder = tmp_path / "alicia"
    rows = {path.stem: json.loads(path.read_text()) for path in (folder / "rows" / "theirs").iterdir()}
    found = belongings_of(left.ground.alice)
    assert {label: len(each) for label, each in rows.items()} == {
        label.lower(): len(each) for label, each in found.theirs.items()
    }
    assert {each["id"] for each in rows["assistants.toolcall"]} == {
        str(key) for key in ToolCall.objects.filter(turn__thread__owner=left.ground.alice).values_list("pk", flat=True)
    }
    assert "password" not in rows["assistants.user"][0]
    threads = Thread.objects.filter(owner=left.ground.alice, parent=None)
    assert len(list((folder / "conversations").glob("*.md"))) == len(threads)
    texts = "".join(path.read_text() for path in (folder / "conversations").glob("*.md"))
    assert f"There are 42 {WORDS}." in texts
    assert f"Wrote {len(threads)} conversations" in said
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert AuditEntry.objects.filter(action="person_exported", target=f"user {left.number}").count() == 1


def test_its_conversations_can_be_brought_in_again(left, tmp_path):
    export(NAMES[0], tmp_path / "alicia")
    file = next((tmp_path / "alicia" / "conversations").glob(f"{left.belongings.thread.chat_id}*.json"))

    with file.open("rb") as content:
        answer = signed_in(left.ground.bob, **PROGRAM).post("/import/", {"file": content})

    assert answer.json()["skipped"] == []
    new = Thread.objects.get(chat_id=answer.json()["imported"][0])
    assert new.owner == left.ground.bob
    assert new.messages.count() == left.belongings.thread.messages.exclude(role="system").count()


def test_a_zip_is_for_its_owner_alone_and_nothing_is_overwritten(left, tmp_path):
    target = tmp_path / "alicia.zip"

    export(NAMES[0], target)
    with pytest.raises(CommandError, match="exists already"):
        export(NAMES[0], target)
    with pytest.raises(CommandError, match="can't be written"):
        export(NAMES[0], tmp_path / "nowhere" / "x.zip")

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with zipfile.ZipFile(target) as pack:
        assert "README.md" in pack.namelist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alicia.zip", "outbox"]


def test_nothing_of_anybody_else_is_in_it(left, tmp_path):
    left.ground.script({"steps": ["Secret answer of bob."], "forever": True})
    thread = left.ground.open("Secret question of bob", owner=left.ground.bob)
    Message.objects.filter(thread=thread).update(author=left.ground.bob)

    export(NAMES[0], tmp_path / "alicia")

    texts = "".join(path.read_text() for path in (tmp_path / "alicia").rglob("*.*"))
    assert "of bob" not in texts
    assert thread.chat_id not in texts


def test_nobody_of_that_name_is_a_sentence(db, tmp_path):
    with pytest.raises(CommandError, match="Nobody is called nobody"):
        export("nobody", tmp_path / "x")
