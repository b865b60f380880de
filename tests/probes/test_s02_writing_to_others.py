"""S02: whatever names somebody else's conversation, in whichever part of a request, nothing is written there."""

import json

import pytest
from django.urls import reverse

from assistants.models import Message, Thread, ToolCall, Turn
from assistants.turns import executors
from tests.kit.turns import run_all

COMMANDS = {
    "send_message": {"text": "Hi"},
    "rename_thread": {"title": "Mine"},
    "delete_thread": {},
    "run_again": {},
    "send_back": {},
}


def names(place):
    """Every way to name Alice's conversation beside the address."""
    chat, turn, message = place.alice.thread.chat_id, str(place.alice.turn.pk), str(place.alice.message.pk)
    return {
        **dict.fromkeys(("chat_id", "thread", "parent", "parent_chat_id", "root", "id", "thread_id"), chat),
        **{"turn": turn, "turn_id": turn, "message": message, "message_id": message, "instead_of": message, "leaf": message},
    }


def rows_of_alice(place):
    """All that belongs to her, row by row."""
    own = Thread.objects.filter(owner=place.ground.alice)
    return [
        *own.order_by("pk").values_list(),
        *Message.objects.filter(thread__in=own).order_by("pk").values_list(),
        *Turn.objects.filter(thread__in=own).order_by("pk").values_list(),
        *ToolCall.objects.filter(turn__thread__in=own).order_by("pk").values_list(),
    ]


@pytest.mark.parametrize("where", ["query", "form", "JSON", "header", "cookie"])
def test_s02_a_name_beside_the_address_reaches_nobody_elses_conversation(place, where):
    before, wanted = rows_of_alice(place), names(place)
    own = place.ground.open("My own", owner=place.ground.bob)
    run_all()

    for name, data in COMMANDS.items():
        browser, path, kwargs = place.browser("bob"), reverse(name, args=[own.chat_id]), {}
        if where == "query":
            path += "?" + "&".join(f"{key}={value}" for key, value in wanted.items())
        elif where == "form":
            data = {**data, **wanted}
        elif where == "JSON":
            data, kwargs = json.dumps({**data, **wanted}), {"content_type": "application/json"}
        elif where == "header":
            kwargs["headers"] = {f"X-{key}": value for key, value in wanted.items()} | {
                "HX-Current-URL": f"/c/{wanted['thread']}/"
            }
        else:
            browser.cookies.load(wanted)
        assert browser.post(path, data, **kwargs).status_code < 500
    run_all()

    assert rows_of_alice(place) == before


def test_s02_no_model_is_asked_in_somebody_elses_name(place):
    for name, data in COMMANDS.items():
        for chat in (place.alice.thread.chat_id, place.alice.child.chat_id):
            assert place.browser("bob").post(reverse(name, args=[chat]), data).status_code == 404

    assert executors.rung == [] and executors.jobs == []


def test_s02_a_key_of_somebody_elses_message_is_a_new_message(place):
    browser = place.browser("alice")
    browser.post("/c/", {"assistant": place.ground.lead.pk, "text": "Secret", "key": "k1"})

    answer = place.browser("bob").post("/c/", {"assistant": place.ground.lead.pk, "text": "Mine", "key": "k1"})

    opened = Thread.objects.get(owner=place.ground.bob, client_key="k1")
    assert answer["Location"] == f"/c/{opened.chat_id}/"
    assert opened.messages.get(role="user").text == "Mine"
