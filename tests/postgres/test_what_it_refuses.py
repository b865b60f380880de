"""F21, F30, P12: NUL and half characters never reach PostgreSQL; its clock is the one that leases go by."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from assistants import clock, postgres
from assistants.conversations.search import search
from assistants.models import Message, Thread
from assistants.turns import claims, lifecycle
from tests.kit.browsers import signed_in
from tests.kit.turns import last_turn, replies, run_all


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b'{"a": "x\\u0000y"}', b'{"a": "xy"}'),
        (b'{"a": "x\\\\u0000y"}', b'{"a": "x\\\\u0000y"}'),
        (b'{"a": "x\\\\\\u0000y"}', b'{"a": "x\\\\y"}'),
        (b'{"a": "\\ud83d\\udc12"}', b'{"a": "\\ud83d\\udc12"}'),
        (b'{"a": "\\ud83d!"}', b'{"a": "\\ufffd!"}'),
        (b'{"a": "\\udc12"}', b'{"a": "\\ufffd"}'),
        (b'{"a": "\\ud83d\\ud83d\\udc12"}', b'{"a": "\\ufffd\\ud83d\\udc12"}'),
    ],
)
def test_f21_json_is_cleaned_and_what_only_looks_like_an_escape_stays(given, kept):
    assert postgres.clean_json(given) == kept


@pytest.mark.django_db
def test_f21_nul_and_half_characters_from_a_person_a_model_and_a_search_stop_nothing(ground):
    ground.script([{"calls": [{"name": "current_time", "arguments": {"zone\0": "\ud83d \0 🐒"}}]}, "Back\0slash \\u0000 🐒"])
    browser = signed_in(ground.alice)

    thread = lifecycle.open_thread(ground.lead, owner=ground.alice, text="Mon\0key \\u0000 🐒")
    run_all()

    assert replies(thread)[-1] == "Backslash \\u0000 🐒"
    assert Message.objects.filter(thread=thread, role="user").get().text == "Monkey \\u0000 🐒"
    assert [each.thread for each in search("monkey", Thread.objects.all())] == [thread]
    assert browser.get("/search/", {"q": "mon\0key"}).status_code == 200
    assert browser.get(f"/c/{thread.chat_id}/").status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("hours", [-1, 1])
def test_f30_a_machine_whose_clock_jumps_takes_nothing_over_early_and_waits_for_nothing_longer(ground, monkeypatch, hours):
    turn = last_turn(ground.open("Hello"))
    monkeypatch.setattr(postgres, "_measured", float("-inf"))
    connection.close()
    assert claims.claim_turn(turn.pk, holder="dead:1")
    here = timezone.now

    monkeypatch.setattr(timezone, "now", lambda: here() + timedelta(hours=hours))

    assert abs((clock.now() - datetime.now(UTC)).total_seconds()) < 2
    assert claims.claim_turn(turn.pk, holder="other:1") is None
    turn.refresh_from_db()
    assert 5 < (turn.lease_until - datetime.now(UTC)).total_seconds() <= 11
    # Ten seconds later by the database's clock, whatever this machine's says.
    monkeypatch.setattr(clock, "_anchor", (clock.now() + timedelta(seconds=11), time.monotonic()))
    assert claims.claim_turn(turn.pk, holder="other:1")
