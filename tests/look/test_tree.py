"""The sidebar's tree and the panel of the present turn."""

from datetime import date

from assistants.conversations.overview import list_conversations
from assistants.models import Turn
from assistants.templatetags import conversations, tree
from tests.kit.turns import run_all

DELEGATE = [{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}, "Counted."]


def days_of(actor, current=None):
    listing = list_conversations(actor, current)
    rows = [
        {"thread": root, "state": listing.facts.state_of(root, *children), "children": list(children)}
        for root in listing.roots
        for children in [listing.below.get(root.pk, ())]
    ]
    return conversations.conversations(rows, listing.facts, current)


def test_days_are_named_by_how_long_ago_they_were():
    today = date(2026, 11, 30)

    assert conversations.day_label(today, today) == "Today"
    assert conversations.day_label(date(2026, 11, 29), today) == "Yesterday"
    assert conversations.day_label(date(2026, 11, 25), today) == "Last 7 days"
    assert conversations.day_label(date(2026, 11, 5), today) == "Last 30 days"
    assert conversations.day_label(date(2026, 9, 1), today) == "September 2026"


def test_a_sub_chat_hangs_under_its_parent_with_its_state(ground):
    ground.assistant("stock", script=["Forty-two."])
    ground.script(DELEGATE)
    thread = ground.open("How many?")
    run_all()

    (day,) = days_of(ground.alice, thread)

    (root,) = day.branches
    assert [child.thread.title for child in root.children] == ["Count"]
    assert root.children[0].look.word == "done"


def test_elsewhere_finished_sub_chats_are_only_counted(ground):
    ground.assistant("stock", script=["Forty-two."])
    ground.script(DELEGATE)
    ground.open("How many?")
    run_all()

    (day,) = days_of(ground.alice)

    assert (day.branches[0].children, day.branches[0].hidden) == ([], 1)


def test_pinned_conversations_stand_above_the_days(ground):
    ground.script(["One.", "One."])
    pinned = ground.open("Pinned one")
    ground.open("Another")
    run_all()
    pinned.pinned = True
    pinned.save()

    assert [day.label for day in days_of(ground.alice)] == ["Pinned", "Today"]


def test_report_d22_the_panel_sums_the_whole_tree(ground):
    ground.assistant("stock", script=[{"text": "Forty-two.", "usage": [100, 10]}])
    ground.script([{"calls": DELEGATE[0]["calls"], "usage": [50, 5]}, {"text": "Counted.", "usage": [60, 6]}])
    thread = ground.open("How many?")
    run_all()

    shown = tree.turn_tree(thread)

    assert [worker.definition.name for worker in shown.workers] == ["Lead", "Stock"]
    assert [worker.depth for worker in shown.workers] == [0, 1]
    assert shown.tokens == sum(worker.tokens for worker in shown.workers) == 231


def test_the_panel_of_a_sub_chat_shows_what_is_below_it(ground):
    ground.assistant("stock", script=["Forty-two."])
    ground.script(DELEGATE)
    thread = ground.open("How many?")
    run_all()
    child = Turn.objects.exclude(thread=thread).get().thread

    shown = tree.turn_tree(child)

    assert [worker.definition.name for worker in shown.workers] == ["Stock"]
    assert tree.ancestors(child) == [thread]
