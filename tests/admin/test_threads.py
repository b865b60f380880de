"""Conversations and turns, to look at but not to touch; and the audit."""

import pytest

from assistants.models import AuditEntry, Thread, Turn
from assistants.turns import lifecycle
from tests.kit import turns

from .forms import address

DELEGATES = [
    {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "law", "task": "Read SESAME clause 7."}}]},
    "All is well, says law.",
]


@pytest.fixture
def tree(ground) -> Thread:
    """A conversation in which the lead asked law, and both are done."""
    ground.assistant("law", script=["Clause 7 says SESAME."])
    ground.script(DELEGATES)
    thread = ground.open("Is SESAME clause 7 fine?")
    turns.run_all()
    return thread


def test_a_conversation_shows_its_tree_turns_calls_events_and_usage(alice, tree) -> None:
    child = tree.children.get()

    page = alice.get(address("thread", "change", tree.pk)).content.decode()

    assert child.chat_id in page
    assert address("thread", "change", child.pk) in page
    assert address("turn", "change", tree.turns.get().pk) in page
    assert "invoke_assistant" in page
    for event in tree.events.all():
        assert f"<td>{event.kind}</td>" in page
    assert f'<td class="number">{tree.turns.get().output_tokens}</td>' in page


def test_a_sub_chat_shows_its_ancestors_and_the_call_it_came_from(alice, tree) -> None:
    child = tree.children.get()

    page = alice.get(address("thread", "change", child.pk)).content.decode()

    assert address("thread", "change", tree.pk) in page
    assert f"turn {tree.turns.get().pk}, invoke_assistant" in page
    assert 'class="depth-1"' in page


def test_a_turn_shows_who_holds_it_and_what_it_called(alice, tree) -> None:
    page = alice.get(address("turn", "change", tree.turns.get().pk)).content.decode()

    assert tree.chat_id in page
    assert "invoke_assistant" in page
    assert ">done<" in page


def test_what_was_said_is_not_shown_to_an_admin(alice, root, tree) -> None:
    """`access` lets only the owner and those they share with read a conversation; the admin shows its shape (D7)."""
    for client in (alice, root):
        assert "SESAME" not in client.get(address("thread", "changelist")).content.decode()
        assert "SESAME" not in client.get(address("thread", "delete", tree.pk)).content.decode()
        for thread in (tree, tree.children.get()):
            assert "SESAME" not in client.get(address("thread", "change", thread.pk)).content.decode()
            assert "SESAME" not in client.get(address("turn", "change", thread.turns.get().pk)).content.decode()


@pytest.mark.parametrize("model", ["thread", "turn", "auditentry"])
def test_s09_what_is_only_shown_can_not_be_added_changed_or_deleted(ground, alice, tree, model) -> None:
    row = {"thread": tree, "turn": tree.turns.get(), "auditentry": AuditEntry.objects.create(tenant=ground.apes, action="x")}[
        model
    ]
    before = type(row).objects.filter(pk=row.pk).values().get()

    answers = [
        alice.post(address(model, "add"), {"title": "Changed"}),
        alice.post(address(model, "change", row.pk), {"title": "Changed", "action": "changed", "state": "failed"}),
        alice.post(address(model, "delete", row.pk), {"post": "yes"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert type(row).objects.filter(pk=row.pk).values().get() == before
    alice.post(address(model, "changelist"), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert type(row).objects.filter(pk=row.pk).exists()


def test_not_even_the_superuser_changes_the_record(root, tree) -> None:
    turn, entry = tree.turns.get(), AuditEntry.objects.create(action="x")

    assert root.post(address("thread", "change", tree.pk), {"title": "Changed"}).status_code == 403
    assert root.post(address("turn", "delete", turn.pk), {"post": "yes"}).status_code == 403
    assert root.post(address("auditentry", "delete", entry.pk), {"post": "yes"}).status_code == 403


def test_the_superuser_deletes_a_conversation_with_all_under_it_and_stops_it_first(ground, root) -> None:
    ground.assistant("law", script=["Never said."])
    ground.script(DELEGATES)
    thread = ground.open()

    page = root.get(address("thread", "delete", thread.pk))
    response = root.post(address("thread", "delete", thread.pk), {"post": "yes"})

    assert page.status_code == 200
    assert response.status_code == 302
    assert not Thread.objects.exists() and not Turn.objects.exists()
    assert AuditEntry.objects.get(target=thread.chat_id).user.username == "root"
    turns.run_all()


def test_a_sub_chat_is_not_deleted_alone(root, tree) -> None:
    child = tree.children.get()

    assert root.post(address("thread", "delete", child.pk), {"post": "yes"}).status_code == 403
    root.post(address("thread", "changelist"), {"action": "delete_selected", "_selected_action": [child.pk], "post": "yes"})
    assert Thread.objects.filter(pk=child.pk).exists()
    root.post(address("thread", "changelist"), {"action": "delete_selected", "_selected_action": [tree.pk], "post": "yes"})
    assert not Thread.objects.exists()


def test_conversations_are_found_by_number_and_person_but_not_by_what_was_said(ground, alice, tree) -> None:
    other = lifecycle.open_thread(ground.lead, owner=ground.bob, text="Something else")

    def found(words: str) -> list[Thread]:
        return list(alice.get(address("thread", "changelist", q=words)).context["cl"].result_list)

    assert found(other.chat_id) == [other]
    assert found("bob") == [other]
    assert found("Something") == []


def test_the_list_of_conversations_asks_the_store_a_fixed_number_of_times(ground, alice, django_assert_max_num_queries) -> None:
    for number in range(12):
        lifecycle.open_thread(ground.lead, owner=ground.bob, text=f"Hello {number}")

    with django_assert_max_num_queries(30):
        assert alice.get(address("thread", "changelist")).status_code == 200


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        (
            {"changes": [{"changed": {"fields": ["Name", "New key"]}}, {"key": "dropped"}]},
            "changed: Name, New key; key: dropped",
        ),
        (
            {"changes": [{"added": {"name": "member", "object": "bob in Apes (member)"}}]},
            "added: member bob in Apes (member)",
        ),
        ({"changes": [{"added": {}}]}, "added:"),
        ({"method": "POST"}, "method: POST"),
        ({"changes": "Changed password."}, "Changed password."),
    ],
)
def test_the_audit_says_in_words_who_did_what(ground, alice, detail, words) -> None:
    entry = AuditEntry.objects.create(
        tenant=ground.apes, user=ground.alice, action="assistant.changed", target="assistant 1", detail=detail
    )

    page = alice.get(address("auditentry", "change", entry.pk)).content.decode()

    for each in ("alice", "assistant.changed", "assistant 1", words):
        assert each in page
