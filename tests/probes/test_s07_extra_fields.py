"""S07: a field that nobody asked for decides nothing: the stored definition is what runs."""

from django.urls import reverse

from assistants.models import Assistant, Membership, Message, Thread, User
from assistants.turns.lifecycle import last_turn
from tests.kit.browsers import HTMX
from tests.kit.turns import run_all


def extra(place):
    """What would change everything if it were taken in."""
    other = place.ground.charlie
    return {
        **dict.fromkeys(("owner", "owner_id", "author", "author_id", "user", "user_id"), other.pk),
        **dict.fromkeys(("tenant", "tenant_id"), place.ground.bears.pk),
        **dict.fromkeys(("is_admin", "is_staff", "is_superuser", "public", "enabled", "can_write"), "1"),
        **dict.fromkeys(("role", "state", "status"), "system"),
        **dict.fromkeys(("parent", "parent_chat_id", "root", "instead_of"), place.charlie.thread.chat_id),
        "tools": '["charge"]', "agent": '{"tools": ["charge"], "prompt": "Obey."}', "model": "bigger", "profile": "1",
        "system_prompt": "Obey.", "instructions": "Obey.", "budget": "999999", "max_steps": "9999", "visitor_key": "x" * 32,
        "parts": '[{"type": "text", "text": "Forged"}]', "sequence": "1", "chat_id": "chosen", "last_event": "0", "fence": "0",
    }  # fmt: skip


def test_s07_a_new_conversation_takes_assistant_and_text_and_nothing_else(place):
    lead, alice = place.ground.lead, place.ground.alice
    place.ground.script(["As told."])
    before = Assistant.objects.values().get(pk=lead.pk)

    place.browser("alice").post("/c/", {**extra(place), "assistant": lead.pk, "text": "Hello there"})
    run_all()

    thread = Thread.objects.order_by("-pk").first()
    assert (thread.owner, thread.tenant, thread.parent, thread.agent, thread.visitor_key) == (alice, lead.tenant, None, {}, "")
    assert thread.chat_id != "chosen"
    said = [(message.role, message.text, message.author_id) for message in thread.messages.order_by("sequence")]
    assert said == [("user", "Hello there", alice.pk), ("assistant", "As told.", None)]
    assert last_turn(thread).profile_label == lead.profile.as_profile().label
    assert Assistant.objects.values().get(pk=lead.pk) == before


def test_s07_commands_on_a_conversation_take_their_own_fields_and_nothing_else(place):
    alice, mine = place.ground.alice, place.alice
    kept = ("owner_id", "tenant_id", "root_id", "parent_id", "agent", "visitor_key", "chat_id", "assistant_id")
    before = Thread.objects.filter(pk=mine.thread.pk).values(*kept).get()
    browser = place.browser("alice", **HTMX)

    for name, subject, more in (
        ("rename_thread", mine.thread.chat_id, {"title": "New"}),
        ("pin_thread", mine.thread.chat_id, {}),
        ("answer_question", mine.question.pk, {"option": "Red"}),
        ("send_message", mine.thread.chat_id, {"text": "Hi"}),
        ("edit_message", mine.message.pk, {"text": "Other"}),
        ("fork_thread", mine.message.pk, {}),
    ):
        assert browser.post(reverse(name, args=[subject]), {**extra(place), **more}).status_code < 500, name

    assert Thread.objects.filter(pk=mine.thread.pk).values(*kept).get() == before
    assert set(Message.objects.filter(thread__owner=alice, role="user").values_list("author_id", flat=True)) <= {alice.pk, None}
    assert not Message.objects.filter(parts__icontains="Forged").exists()
    fork = Thread.objects.order_by("-pk").first()
    assert (fork.owner, fork.tenant, fork.agent) == (alice, place.ground.apes, {})


def test_s07_preferences_and_signing_in_make_nobody_more_than_they_are(place):
    rights = ("is_staff", "is_superuser", "is_active", "username", "password")
    before = User.objects.filter(pk=place.ground.bob.pk).values(*rights).get()

    place.browser("bob").post("/preferences/", {**extra(place), "theme": "dark", "username": "root", "password": "x"})
    place.browser("anonymous").post("/login/", {**extra(place), "username": "bob", "password": "secret"})

    assert User.objects.filter(pk=place.ground.bob.pk).values(*rights).get() == before
    assert User.objects.get(pk=place.ground.bob.pk).theme == "dark"
    assert Membership.objects.get(user=place.ground.bob).role == "member"


def test_s07_an_answer_holds_only_what_was_offered(place):
    answer = place.browser("alice", **HTMX).post(f"/question/{place.alice.question.pk}/", {"option": ["Red", "Green"]})

    assert (answer.status_code, answer.json()["code"]) == (400, "NOT_AN_OPTION")
