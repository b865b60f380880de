"""The sidebar's tree."""

from datetime import date

from assistants.conversations.overview import list_conversations
from assistants.templatetags import conversations
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
