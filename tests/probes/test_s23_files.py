"""S23: whatever is handed out as a file is saved and never opened as a page of ours, be its name or content what it will."""

import pytest

from tests.kit.browsers import PAGE, signed_in
from tests.tables.keeping import keep

NAMES = ["pwn.html", "pwn.svg", "x.xhtml\r\nContent-Type: text/html", 'a".html', "sound.mp3.html", "../../pwn.htm"]
SCRIPT = "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"
ALLOWED = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "md": "text/markdown",
}


def check_saved(answer, kind) -> None:
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].partition(";")[0] == ALLOWED[kind]
    disposition = answer.headers["Content-Disposition"]
    assert disposition.startswith("attachment;") and disposition.rstrip('"').endswith(f".{kind}")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("title", NAMES)
@pytest.mark.parametrize("kind", ["csv", "xlsx", "json"])
def test_s23_a_tables_file_is_saved_under_its_own_kind(ground, title, kind):
    table = keep(ground, rows=[[SCRIPT, 1]])
    # The guard would not let some of these in by way of a model.
    type(table).objects.filter(pk=table.pk).update(title=title)

    answer = signed_in(ground.alice, **PAGE).get(f"/c/{table.root.chat_id}/tables/{table.pointer}/{kind}/")

    check_saved(answer, kind)


@pytest.mark.parametrize("title", NAMES)
@pytest.mark.parametrize("kind", ["md", "json"])
def test_s23_a_conversations_file_is_saved_under_its_own_kind(ground, title, kind):
    thread = ground.open(SCRIPT)
    type(thread).objects.filter(pk=thread.pk).update(title=title)

    answer = signed_in(ground.alice, **PAGE).get(f"/c/{thread.chat_id}/export/{kind}/")

    check_saved(answer, kind)
