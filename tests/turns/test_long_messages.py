"""A message that is too long is refused with its text kept; a long document is read in pieces (C3)."""

from dataclasses import replace
from urllib.parse import urlencode

from assistants.documents import indexing
from assistants.models import DocumentRoot, Message
from assistants.tools import registry
from tests.kit.browsers import PAGE, PROGRAM, signed_in
from tests.kit.turns import replies, run_all
from tests.kit.words import url

MEGABYTE = 1024 * 1024
FORM = "application/x-www-form-urlencoded"


def test_report_c3_a_megabyte_of_pasted_text_does_not_end_the_conversation(ground):
    thread = ground.open("Hi")
    run_all()
    alice = signed_in(ground.alice, **PROGRAM)

    for size, status in ((MEGABYTE // 2, 400), (MEGABYTE, 413), (3 * MEGABYTE, 413)):
        answer = alice.post(url("send_message", thread), urlencode({"text": "x" * size}), content_type=FORM)
        told = answer.json()
        assert (answer.status_code, told["code"]) == (status, "MESSAGE_TOO_LONG")
        assert "your text was kept" in told["message"] and "document folder" in told["fix"]
    page = signed_in(ground.alice, **PAGE).post(
        url("send_message", thread), urlencode({"text": "x" * MEGABYTE}), content_type=FORM
    )
    assert page.status_code == 413 and "more than 1024 KB at once" in page.content.decode()
    assert thread.messages.filter(role=Message.Role.USER).count() == 1
    signed_in(ground.alice, **PROGRAM).post(url("send_message", thread), {"text": "Shorter, then."})
    run_all()
    assert len(replies(thread)) == 2


def test_report_c3_a_document_of_a_megabyte_is_read_in_pieces(ground, tmp_path, settings, monkeypatch):
    lines = [f"Line {number}: {'words ' * 8}" for number in range(20_000)]
    (tmp_path / "long.txt").write_text("\n".join(lines))
    assert (tmp_path / "long.txt").stat().st_size > MEGABYTE
    # In the test's own thread, since another one would not see what the test has not committed.
    monkeypatch.setitem(registry._tools, "read_document", replace(registry.find_tool("read_document"), in_transaction=True))
    indexing.forget_checks()
    indexing.index_root(DocumentRoot.objects.create(tenant=ground.apes, name="Papers", path=str(tmp_path)))
    ground.lead.tools = [*ground.lead.tools, "read_document"]
    ground.lead.save()
    read = {"name": "read_document", "arguments": {"document": "long.txt", "start": 15_000}}
    ground.script([{"calls": [read]}, "Read."])

    thread = ground.open("What stands at line 15,000?")
    run_all()

    call = thread.turns.get().calls.get()
    shown = str(call.result)
    assert "Line 15000:" in shown and "Line 14000:" not in shown
    assert len(shown) <= settings.TASKMONKEY["MAX_RESULT_SHOWN_CHARS"]
    assert replies(thread)[-1] == "Read."
