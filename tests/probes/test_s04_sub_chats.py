"""S04: who may look at a sub-chat follows its conversation, at once, and nothing moves it under another one."""

import pytest
from django.urls import reverse

from assistants.models import Thread, ThreadShare
from tests.kit.browsers import HTMX
from tests.probes.town import CANARY, changes, record

READING = ("thread", "thread_events", "thread_state")


def statuses(place, who, *threads):
    browser = place.browser(who)
    return {browser.get(reverse(name, args=[each.chat_id]) + "?after=0").status_code for name in READING for each in threads}


def test_s04_whoever_has_no_right_to_the_conversation_has_none_to_its_sub_chat(place):
    before = record()

    assert {status for who in ("bob", "charlie", "root") for status in statuses(place, who, place.alice.child)} == {404}
    assert changes(before) == {}


def test_s04_the_right_to_a_sub_chat_ends_with_the_share_of_its_conversation(place):
    assert statuses(place, "rita", place.alice.thread, place.alice.child) == {200}

    share = {"username": "rita"}
    place.browser("alice").post(reverse("unshare_thread", args=[place.alice.thread.chat_id]), share)

    assert statuses(place, "rita", place.alice.thread, place.alice.child) == {404}


def test_s04_a_share_of_the_sub_chat_alone_opens_nothing(place):
    ThreadShare.objects.create(thread=place.alice.child, user=place.ground.bob)

    assert statuses(place, "bob", place.alice.thread, place.alice.child) == {404}
    assert CANARY not in place.browser("bob").get("/").content.decode()


@pytest.mark.parametrize("name", ["rename_thread", "send_message", "pin_thread", "archive_thread", "share_thread"])
def test_s04_no_field_of_a_form_moves_a_sub_chat(place, name):
    other = place.ground.open("Other", owner=place.ground.alice)
    child, elsewhere = place.alice.child, other.chat_id
    moved = dict.fromkeys(("parent", "parent_id", "parent_chat_id", "root", "root_id", "chat_id"), elsewhere)
    moved |= {"owner": place.ground.bob.pk, "tenant": place.ground.bears.pk, "title": "x", "text": "x", "username": "bob"}

    place.browser("alice", **HTMX).post(reverse(name, args=[child.chat_id]), moved)

    fresh = Thread.objects.get(pk=child.pk)
    assert (fresh.parent_id, fresh.root_id, fresh.owner_id, fresh.tenant_id, fresh.chat_id) == (
        child.parent_id, child.root_id, child.owner_id, child.tenant_id, child.chat_id,
    )  # fmt: skip


def test_s04_what_a_sub_chat_is_told_to_send_back_goes_to_its_own_parent(place):
    other = place.ground.open("Other", owner=place.ground.alice)
    sent = {"parent": other.chat_id, "chat_id": other.chat_id}

    place.browser("alice").post(reverse("send_back", args=[place.alice.child.chat_id]), sent)

    assert not other.messages.filter(parts__icontains="42").exists()
    assert place.alice.thread.messages.filter(parts__icontains="New result from the sub-chat").exists()
