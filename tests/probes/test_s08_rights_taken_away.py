"""S08: whoever loses a right loses the open socket with it, within five seconds, and however much goes on."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from assistants import access, looks, open_pages
from assistants.models import Membership, Thread, ThreadShare, User
from assistants.turns import hub, live
from tests.probes.sockets import closing, following, opening


def leave_the_team(ground):
    Membership.objects.filter(user=ground.rita).delete()


def be_switched_off(ground):
    User.objects.filter(pk=ground.rita.pk).update(is_active=False)


def be_deleted(ground):
    User.objects.get(pk=ground.rita.pk).delete()


def lose_the_share(ground):
    ThreadShare.objects.filter(user=ground.rita).delete()


def get_another_password(ground):
    ground.rita.set_password("another")
    ground.rita.save()


LOSSES = (leave_the_team, lose_the_share, be_switched_off, be_deleted, get_another_password)
# The page loads anew on both, and is then led to where the person may be.
GONE = (4401, 4404)


def test_s08_rights_are_asked_for_often_enough_to_keep_the_promise():
    assert open_pages.ACCESS_SECONDS < 5


@pytest.mark.parametrize("change", [lambda ground: None, *LOSSES])
def test_s08_an_open_page_is_judged_as_any_request_is(place, change):
    """D7: a look at many pages reads what rights depend on by itself, and must say the same as `may`."""
    session = SessionStore(place.sessions["rita"])
    change(place.ground)
    actors = [*User.objects.all(), place.ground.rita, access.actor_of(None, SessionStore(place.sessions["visitor"]))]
    views = [(actor, thread) for actor in actors for thread in Thread.objects.all()]

    seen = looks.look_all([(actor, session, thread.chat_id) for actor, thread in views])

    told = [access.may(actor, "read", thread) for actor, thread in views]
    assert len(views) > 20 and any(told) and not all(told)
    assert [sight.is_readable for sight in seen] == told


def end_the_session(session):
    session.delete()


def let_it_run_out(session):
    session.set_expiry(timezone.now())
    session.save()


def sign_in_as_another(session):
    session["_auth_user_id"] = "0"
    session.save()


@pytest.mark.parametrize("end", [None, end_the_session, let_it_run_out, sign_in_as_another])
@pytest.mark.parametrize("who", ["rita", "visitor"])
def test_s08_a_page_is_not_at_home_in_a_session_that_is_over(place, who, end):
    session = SessionStore(place.sessions[who])
    actor = User.objects.get(username=who) if who == "rita" else access.actor_of(None, session)
    if end:
        end(session)

    [sight] = looks.look_all([(actor, SessionStore(place.sessions[who]), place.alice.thread.chat_id)])

    assert sight.is_here == (end is None or (who, end) == ("visitor", sign_in_as_another))


@pytest.mark.parametrize("lose", LOSSES)
async def test_s08_an_open_socket_closes_when_the_right_is_gone(place, monkeypatch, lose):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.1)
    async with opening(place.alice.thread.chat_id, session=place.sessions["rita"]) as reading:
        assert await following(reading)

        await sync_to_async(lose)(place.ground)

        assert await closing(reading, seconds=2) in GONE


async def test_s08_a_look_that_cannot_be_made_closes_the_page_which_comes_back_by_itself(place, monkeypatch):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.1)
    async with opening(place.alice.thread.chat_id, session=place.sessions["rita"]) as reading:
        assert await following(reading)
        monkeypatch.setattr(looks, "_ROLES", None)

        assert await closing(reading, seconds=2) == 4011
        monkeypatch.undo()

    async with opening(place.alice.thread.chat_id, session=place.sessions["rita"]) as again:
        assert isinstance(await following(again), str)


async def test_s08_a_reader_without_the_right_hears_no_more_of_a_reply_that_streams(place, monkeypatch):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.2)
    thread, talking = place.alice.busy, True
    growing = live.begin(thread.pk, thread.pk, place.alice.message.pk, 7)

    async def talk():
        while talking:
            growing.on_text("word ")
            hub.poke(f"text:{thread.pk}")
            await asyncio.sleep(0.01)

    async with opening(thread.chat_id, session=place.sessions["rita"], after=thread.last_event) as reading:
        speaker = asyncio.create_task(talk())
        while "word" not in await following(reading):
            pass
        await sync_to_async(lose_the_share)(place.ground)
        code = await closing(reading, seconds=2)
        talking = False
        await speaker
    live.end(growing)

    assert code == 4404


async def test_s08_the_owner_keeps_the_socket(place, monkeypatch):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.1)
    async with opening(place.alice.thread.chat_id, session=place.sessions["alice"]) as mine:
        await sync_to_async(lose_the_share)(place.ground)

        assert await closing(mine, seconds=0.5) is None


async def test_s17_one_person_opens_only_so_many_sockets(place, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "SOCKETS_PER_USER": 2}
    chat, session = place.alice.thread.chat_id, place.sessions["alice"]
    async with opening(chat, session=session), opening(chat, session=session):
        async with opening(chat, session=session) as third:
            refused = await following(third)
        async with opening(chat, session=place.sessions["rita"]) as others:
            assert isinstance(await following(others), str)

    async with opening(chat, session=session) as again:
        assert isinstance(await following(again), str)
    assert refused == 4429
