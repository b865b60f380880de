"""An admin says which calls of an assistant ask first; the command line and two people at once keep to the rules (D8)."""

import pytest
from django.core.management import CommandError, call_command

from assistants.errors import CodedError
from assistants.models import Assistant, AuditEntry, Turn
from assistants.models.definition import definition_of
from assistants.setup import versions
from assistants.setup.differences import compare
from assistants.turns import approvals, lifecycle, steering
from tests.admin.forms import change_assistant
from tests.kit.sealed import allow, asked, call, give
from tests.kit.turns import last_turn, replies, run_all

SEND = call("send", to="anna", text="The price is 5.")


@pytest.fixture
def admin(ground, client):
    """Alice in the admin."""
    ground.alice.is_staff = True
    ground.alice.save()
    client.force_login(ground.alice)
    return client


def test_d8_an_admin_ticks_the_tools_that_ask_and_it_holds_at_the_next_call(ground, catcher, admin):
    give(ground.lead, "note")
    ground.script([{"calls": [call("note", to="a", text="1")]}, {"calls": [call("note", to="b", text="2")]}, "Noted."])

    answer = change_assistant(admin, ground.lead, approve_tools=["note"])
    thread = ground.open()
    run_all()

    assert answer.status_code == 302 and Assistant.objects.get(pk=ground.lead.pk).approve_tools == ["note"]
    assert asked(thread).approval["why"] == ["assistant"]
    Assistant.objects.filter(pk=ground.lead.pk).update(approve_tools=[])
    allow(asked(thread), ground.alice)
    run_all()
    assert [each["to"] for each in catcher.caught] == ["a", "b"]


def test_d8_the_form_says_which_tools_always_ask(ground, catcher, admin):
    page = admin.get(f"/admin/assistants/assistant/{ground.lead.pk}/change/").content.decode()

    assert "Asks a person first" in page and page.count("always asks a person first") >= 2 and "always asks</span>" in page


def test_d8_what_asks_stands_in_the_versions(ground, catcher, admin):
    before = versions.describe(ground.lead)
    change_assistant(admin, ground.lead, approve_tools=["current_time"])

    now = Assistant.objects.get(pk=ground.lead.pk).versions.first().definition

    (change,) = [each for each in compare(before, now) if each.label == "Asks a person first"]
    assert [(line.sign, line.text) for line in change.lines] == [("+", "current_time")]


def test_d8_the_list_is_part_of_what_a_turn_goes_by(ground, catcher):
    give(ground.lead, "note", approve_tools=["note", "gone"])

    assert definition_of(ground.open()).approve_tools == ("note", "gone")


def test_t16_whoever_types_the_arguments_has_approved_them(ground, catcher, capsys):
    call_command("test_tool", "--tenant", "apes", "--tool", "send", "--args", '{"to": "anna", "text": "Hi"}')

    assert len(catcher.caught) == 1 and '"sent": true' in capsys.readouterr().out
    with pytest.raises(CommandError, match="BAD_ARGUMENTS"):
        call_command("test_tool", "--tenant", "apes", "--tool", "send", "--args", '{"to": "anna"}')


def test_q17_an_interrupting_message_ends_what_was_asked_without_running_it(ground, catcher):
    give(ground.lead, "send")
    ground.script([{"calls": [SEND]}, "I leave it."])
    thread = ground.open()
    run_all()
    waiting = asked(thread)
    lifecycle.send_message(thread, author=ground.alice, text="Yes", joins=steering.INTERRUPT)
    steering.interrupt(thread, by="alice")
    run_all()

    with pytest.raises(CodedError):
        allow(waiting, ground.alice)
    assert catcher.caught == [] and replies(thread)[-1] == "I leave it."


def test_d4_of_two_who_decide_at_once_one_is_heard_and_it_runs_once(ground, catcher, monkeypatch):
    """The second decides while the words of the first are still being read, which happens before any lock."""
    give(ground.lead, "send")
    ground.script([{"calls": [SEND]}, "Sent."])
    thread = ground.open()
    run_all()
    waiting, read = asked(thread), approvals._check

    def read_slowly(*args):
        monkeypatch.setattr(approvals, "_check", read)
        allow(waiting, ground.alice)
        read(*args)

    monkeypatch.setattr(approvals, "_check", read_slowly)
    with pytest.raises(CodedError) as refusal:
        allow(waiting, ground.alice, text="The price is 6.")
    run_all()

    assert refusal.value.code == "NOT_ASKED"
    assert [each["text"] for each in catcher.caught] == ["The price is 5."] and last_turn(thread).state == Turn.State.DONE
    assert AuditEntry.objects.filter(action="approval_given").count() == 1
