"""D8: a person sees who asks, for what and why, with all of it before their eyes, wherever in the tree it was asked."""

import json

import pytest

from assistants.conversations.forks import fork_thread
from assistants.conversations.inbox import inbox_of
from assistants.conversations.overview import ANSWER, list_conversations
from assistants.models import Thread, ThreadShare, ToolCall, Turn, User
from assistants.templatetags.look import exact
from assistants.turns import lifecycle
from assistants.turns.written import as_written, read_written
from tests.kit.browsers import PROGRAM
from tests.kit.page import Page
from tests.kit.sealed import allow, asked, call, give
from tests.kit.turns import last_turn, replies, run_all

SEND = call("send", to="anna", text="The price is 5.")


@pytest.fixture
def alice(ground, client):
    client.force_login(ground.alice)
    return client


def waits(ground, **arguments):
    give(ground.lead, "send")
    ground.script([{"calls": [{**SEND, "arguments": {**SEND["arguments"], **arguments}}]}, "Sent."])
    thread = ground.open("Send it")
    run_all()
    return thread


def deep(ground):
    """Lead → middle → leaf, and the leaf asks."""
    ground.assistant("leaf", name="Leaf", tools=["send"], script=[{"calls": [SEND]}, "Leaf done."])
    down = {"calls": [call("invoke_assistant", assistant="leaf", task="Send")]}
    ground.assistant("middle", name="Middle", tools=["invoke_assistant"], script=[down, "Middle done."])
    ground.script([{"calls": [call("invoke_assistant", assistant="middle", task="Have it sent")]}, "All done."])
    thread = ground.open("Go")
    run_all()
    middle = thread.children.get()
    return thread, middle, middle.children.get()


def card(page, waiting):
    return page.at(f"c{waiting.pk.hex}").text()


def test_d8_the_card_says_who_asks_for_what_and_why_and_that_a_message_decides_nothing(ground, catcher, alice):
    thread = waits(ground)

    page = Page(alice, thread)

    text = card(page, asked())
    assert "Lead asks: may it use send?" in text and "waiting for you" in text
    assert "This tool always asks first." in text and "it decides nothing here" in text
    assert "anna" in text and "The price is 5." in text
    assert "needs your decision" in page.at("state").attributes["data-say"]
    assert "waiting for you" in page.at("state").text()


LISTS = [["a@x.y", "b@x.y"], ["one"], ["a b", 'c "d"'], [], [""], ["a\nb"], ["a\rb"], [" a"], ['["x"]'], [1, 2]]


@pytest.mark.parametrize("value", [*LISTS, {"a": 1}, 3, None])
def test_what_a_person_leaves_as_it_is_stays_exactly_so(value):
    assert read_written(as_written(value), like=value) == value


def test_a_list_of_words_is_shown_and_changed_line_by_line(ground, alice):
    give(ground.lead, "send_email")
    mail = call("send_email", to=["bob@apes.example"], subject="Prices", body="5.")
    User.objects.filter(username="bob").update(email="bob@apes.example")
    ground.script([{"calls": [mail]}, "Sent."])
    thread = ground.open("Write to Bob")
    run_all()
    waiting = asked(thread)

    shown = Page(alice, thread).at(f"c{waiting.pk.hex}")
    field = shown.find(name_="argument.to") or shown.find(name="argument.to")
    changed = {"hash": waiting.approval["hash"], "argument.to": "bob@apes.example\r\n\r\nrita@apes.example\r\n"}
    alice.post(f"/call/{waiting.pk}/approve/", changed)

    assert "Lead asks: may it send this mail?" in shown.text() and '["bob' not in shown.text()
    assert field.text().strip() == "bob@apes.example"
    assert ToolCall.objects.get(pk=waiting.pk).arguments["to"] == ["bob@apes.example", "rita@apes.example"]


def test_d8_what_was_seen_live_is_what_a_reload_shows(ground, catcher, alice):
    give(ground.lead, "send")
    ground.script([{"calls": [SEND]}, "Sent."])
    thread = ground.open("Send it")
    page = Page(alice, thread)
    run_all()
    page.poll()
    assert page.parts() == Page(alice, thread).parts()

    allow(asked(), ground.alice, text="The price is 6.")
    run_all()
    page.poll()

    assert page.parts() == Page(alice, thread).parts()
    text = card(page, ToolCall.objects.get(name="send"))
    assert "alice changed it and allowed it once" in text and "The price is 5." in text and "The price is 6." in text


def test_report_d8_a_grandchilds_approval_stands_in_every_chat_above_and_its_answer_resumes_it(ground, catcher, alice):
    threads = deep(ground)
    waiting = asked(threads[2])

    for thread in threads:
        text = card(Page(alice, thread), waiting)
        assert "Leaf asks: may it use send?" in text and "The price is 5." in text
    answer = alice.post(f"/call/{waiting.pk}/approve/", {"hash": waiting.approval["hash"]})
    run_all()

    assert answer.status_code == 302
    assert len(catcher.caught) == 1 and [replies(each)[-1] for each in threads] == ["All done.", "Middle done.", "Leaf done."]


@pytest.mark.parametrize("outcome", ["approve", "edit", "reject", "stop"])
def test_report_q15_a_childs_call_has_four_outcomes_and_the_run_goes_on_from_each(ground, catcher, alice, outcome):
    root, middle, leaf = deep(ground)
    waiting = asked(leaf)
    seen = {"hash": waiting.approval["hash"]}

    match outcome:
        case "approve":
            alice.post(f"/call/{waiting.pk}/approve/", seen)
        case "edit":
            alice.post(f"/call/{waiting.pk}/approve/", {**seen, "argument.text": "The price is 6."})
        case "reject":
            alice.post(f"/call/{waiting.pk}/reject/", {"words": "Not to her."})
        case "stop":
            alice.post(f"/turn/{last_turn(leaf).pk}/stop/")
    run_all()

    texts = {"approve": ["The price is 5."], "edit": ["The price is 6."]}
    assert [each["text"] for each in catcher.caught] == texts.get(outcome, [])
    assert replies(root)[-1] == "All done." and Turn.objects.active().count() == 0
    # Nothing was started anew.
    assert Thread.objects.count() == 3 and ToolCall.objects.filter(name="send").count() == 1


def test_report_d8_the_list_and_the_inbox_say_that_a_person_is_needed(ground, catcher):
    root, middle, leaf = deep(ground)

    facts = list_conversations(ground.alice).facts
    inbox = inbox_of(ground.alice)

    assert facts.state_of(leaf) == ANSWER and facts.state_of(root, middle, leaf) == ANSWER
    assert [(each.thread, each.text) for each in inbox.waiting] == [(leaf, "send")]
    assert leaf not in [each.thread for each in inbox.running] and inbox.waiting[0].since
    allow(asked(leaf), ground.alice)
    run_all()
    assert inbox_of(ground.alice).waiting == ()


def test_d8_the_inbox_page_asks_in_words(ground, catcher, alice):
    waits(ground)

    assert "May send run?" in alice.get("/inbox/").content.decode()


def test_d8_what_can_not_be_seen_is_named(ground, catcher, alice):
    thread = waits(ground)
    ToolCall.objects.filter(name="send").update(arguments={"to": "anna\u202egro.live"})

    text = card(Page(alice, thread), asked())

    assert "anna⟦U+202E⟧gro.live" in text
    (seen,) = exact({"text": "5\u200b0 \U000e0041\r\n\tä 🐒"})
    assert (seen.shown, seen.raw) == ("5⟦U+200B⟧0 ⟦U+E0041⟧⟦U+000D⟧\n\tä 🐒", "5\u200b0 \U000e0041\r\n\tä 🐒")


def test_d8_markup_in_the_arguments_is_text(ground, catcher, alice):
    thread = waits(ground, text="</textarea></dl><b id='x'>now</b><img src=x>")

    page = Page(alice, thread)

    assert "<b id='x'>now</b>" in card(page, asked()) and page.root.find(id="x") is None


def test_d8_a_long_argument_is_shown_whole_on_a_page_of_its_own(ground, catcher, alice):
    thread = waits(ground, text="x" * 30_000 + " the end")

    text = card(Page(alice, thread), asked())
    whole = alice.get(f"/call/{asked().pk}/arguments/")

    assert "… and 10008 more characters" in text
    assert json.loads(whole.content)["text"].endswith("the end") and whole.headers["Content-Type"].startswith("text/plain")


def test_d8_who_may_only_read_sees_it_and_decides_nothing(ground, catcher, client):
    thread = waits(ground)
    ThreadShare.objects.create(thread=thread, user=ground.rita)
    client.force_login(ground.rita)
    waiting = asked()

    text = card(Page(client, thread), waiting)
    answers = [client.post(f"/call/{waiting.pk}/{way}/", {"hash": waiting.approval["hash"]}) for way in ("approve", "reject")]

    assert "Waiting for its owner's decision." in text and "Allow this once" not in text
    assert [each.status_code for each in answers] == [403, 403] and asked()
    client.force_login(ground.bob)
    assert client.post(f"/call/{waiting.pk}/approve/", {"hash": waiting.approval["hash"]}).status_code == 404


def test_report_q12_a_program_reads_and_answers_it_by_the_same_rules(ground, catcher, alice):
    thread = waits(ground)

    told = alice.get(f"/c/{thread.chat_id}/state/", headers=PROGRAM).json()["approvals"]
    stale = alice.post(f"/call/{told[0]['call']}/approve/", {"hash": "0" * 64}, headers=PROGRAM)
    right = alice.post(f"/call/{told[0]['call']}/approve/", {"hash": told[0]["hash"]}, headers=PROGRAM)
    run_all()

    assert (told[0]["name"], told[0]["arguments"], told[0]["why"]) == ("send", SEND["arguments"], ["tool"])
    assert (stale.status_code, stale.json()["code"]) == (400, "APPROVAL_CHANGED")
    assert right.status_code == 200 and len(catcher.caught) == 1


def test_f06_what_a_crash_leaves_undecided_comes_onto_the_open_page(ground, catcher, alice):
    """And goes from it, once it is decided: live equals reloaded."""
    thread = waits(ground)
    waiting = asked()
    allow(waiting, ground.alice)
    page = Page(alice, thread)
    ToolCall.objects.filter(pk=waiting.pk).update(attempts=1)
    run_all()
    page.poll()

    assert "Did this happen?" in page.at(f"d{waiting.pk.hex}").text()
    alice.post(f"/call/{waiting.pk}/decide/", {"happened": "1"})
    run_all()
    page.poll()

    assert page.parts() == Page(alice, thread).parts()


def test_d8_a_copy_of_the_conversation_asks_for_itself(ground, catcher):
    thread = waits(ground)
    fork = fork_thread(thread.messages.filter(role="assistant").first(), owner=ground.alice)

    lifecycle.send_message(fork, author=ground.alice, text="Go on")
    run_all()

    allow(asked(thread), ground.alice)
    run_all()

    assert asked(fork).arguments == SEND["arguments"] and len(catcher.caught) == 1
