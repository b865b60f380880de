"""S03: nobody opens, reads or moves what belongs to somebody else's conversation: socket, polling, state, stop."""

import json

import pytest
from asgiref.sync import sync_to_async
from django.urls import reverse

from assistants.models import Turn
from tests.kit.browsers import HTMX
from tests.probes.sockets import first, following, opening, socket
from tests.probes.town import changes, record

GUESSED = ("chat0000000000000000", "sub_chat0000000000000000_00000000", "0", "-1", "..", "%00", "x" * 300)


@pytest.mark.parametrize("who", ["bob", "charlie", "root", "visitor"])
async def test_s03_a_socket_of_somebody_elses_conversation_is_refused_before_any_frame(place, who):
    chats = [place.alice.thread.chat_id, place.alice.child.chat_id, place.alice.busy.chat_id, *GUESSED]

    answers = [await first(socket(chat, session=place.sessions[who])) for chat in chats]

    assert set(answers) == {4404}
    assert await sync_to_async(is_thinking)(place.alice.active)


def is_thinking(turn):
    return Turn.objects.get(pk=turn.pk).state == Turn.State.THINKING


async def test_s03_a_socket_without_a_session_is_refused_before_any_frame(place):
    chats = [place.alice.thread.chat_id, place.alice.child.chat_id, *GUESSED]

    assert {await first(socket(chat)) for chat in chats} == {4401}


async def test_s03_the_owner_and_a_reader_hear_what_happened(place):
    heard = [
        json.loads(await first(socket(place.alice.thread.chat_id, session=place.sessions[who]))) for who in ("alice", "rita")
    ]

    assert [frame["n"] for frame in heard] == [1, 1]


@pytest.mark.parametrize("after", ["-1", "x", "", "99999999", "1e3", "9" * 40, "%00", "١"])
async def test_s03_a_made_up_cursor_gets_one_reset_and_nothing_else(place, after):
    answer = await first(socket(place.alice.thread.chat_id, session=place.sessions["alice"], after=after))

    assert json.loads(answer) == {"reset": True}


async def test_s03_nothing_that_is_sent_up_a_socket_does_anything(place):
    before = await sync_to_async(record)()
    async with opening(place.alice.thread.chat_id, session=place.sessions["alice"]) as mine:
        for text in ('{"type": "stop"}', '{"text": "Hi", "chat_id": "x"}', "not json", "\0" * 100, "[" * 5000):
            await mine.send_to(text_data=text)
        await mine.send_to(bytes_data=b"\xff\xfe\x00")
        frame = json.loads(await following(mine))

    assert frame["n"] == 1
    assert await sync_to_async(changes)(before) == {}


@pytest.mark.parametrize("who", ["bob", "charlie", "root"])
def test_s03_numbers_beside_ones_own_lead_nowhere(place, who):
    before = record()
    browser = place.browser(who, **HTMX)
    foreign = {place.alice.turn.pk, place.alice.active.pk, place.alice.queued.pk}
    numbers = foreign | {number + step for number in foreign for step in (-1, 1)}
    if who == "charlie":
        numbers -= set(Turn.objects.filter(thread__owner=place.ground.charlie).values_list("pk", flat=True))

    statuses = {
        browser.post(reverse(name, args=[number])).status_code
        for number in numbers
        for name in ("stop_turn", "retry_turn", "send_now", "steer", "unqueue")
    }

    assert statuses == {404}
    assert changes(before) == {}
