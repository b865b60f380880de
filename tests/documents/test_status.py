"""The state of the indexes from the command line, with no model in it (A-41)."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assistants.documents.indexing import index_root
from assistants.llm import stream
from assistants.models import DocumentRoot
from tests.kit.world import World


@pytest.fixture
def root(ground: World, tmp_path: Path) -> DocumentRoot:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "refunds.md").write_text("# Refunds\n\nFive working days.\n")
    (tmp_path / "docs" / "photo.xyz").write_bytes(b"\x00\x01")
    return DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(tmp_path / "docs"))


def status(*flags: str) -> tuple[int, Any]:
    out, code = StringIO(), 0
    try:
        call_command("status", "--json", *flags, stdout=out)
    except SystemExit as exit_:
        code = int(str(exit_.code))
    return code, json.loads(out.getvalue())


def test_a41_status_tells_what_the_index_holds_and_when_it_was_read(root: DocumentRoot, monkeypatch: Any) -> None:
    monkeypatch.delattr(stream, "stream_reply")
    index_root(root)

    code, told = status("--tenant", "apes")

    (index,) = told["indexes"]
    assert (code, told["ok"], index["state"]) == (0, True, "ready")
    assert (index["documents"], index["failed"], index["skipped"]) == (1, 0, 1)
    assert index["passages"] >= 1 and index["indexed"]
    assert [each["message"] for each in index["diagnostics"]] == ["1 files or folders were left out."]
    assert root.path not in json.dumps(told)


def test_a41_a_folder_that_was_never_read_or_has_gone_is_not_ready(root: DocumentRoot) -> None:
    code, told = status()
    assert (code, told["indexes"][0]["state"]) == (1, "unread")

    index_root(root)
    DocumentRoot.objects.update(report={"problem": "It is gone."})
    code, told = status()
    assert (code, told["indexes"][0]["state"]) == (1, "unreadable")


def test_a41_an_index_that_is_not_read_to_its_end_is_stale(root: DocumentRoot) -> None:
    index_root(root)
    root.refresh_from_db()
    DocumentRoot.objects.update(report={**root.report, "complete": False})

    assert status()[1]["indexes"][0]["state"] == "stale"


def test_a41_status_of_no_folder_is_fine_and_of_no_tenant_is_a_wrong_call(ground: World) -> None:
    out = StringIO()
    call_command("status", stdout=out)

    assert out.getvalue() == "There are no folders of documents.\n"
    with pytest.raises(CommandError) as refused:
        call_command("status", "--tenant", "owls")
    assert refused.value.returncode == 2
