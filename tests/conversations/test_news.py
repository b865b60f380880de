"""What a page is told after it was away: everything, in order, and nothing twice that was not needed."""

import json
import time

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings as site
from django.test import AsyncClient

from assistants import open_pages
from assistants.models import Message, Thread, ToolCall, TurnEvent
from assistants.rendering import fragments
from assistants.turns import act, branches, events, hub, lifecycle, live, threads
from assistants.turns.calls import add_message
from assistants.turns.claims import claim_turn
from taskmonkey.asgi import application
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.kit.words import said

ECHO = {"rules": [{"when": {}, "reply": "You said: {{user}}"}]}


def test_what_a_later_event_draws_anyway_is_drawn_once(ground):
    ground.script([{"text": "Let me look.", "calls": [{"name": "current_time"}]}, "Late."])
    thread = ground.open("What time is it?")
    run_all()
    thread.refresh_from_db()

    frames = fragments.draw_news(events.events_after(thread.pk, 0), fragments.viewpoint(thread, ground.alice))

    html = "".join(frame["html"] for frame in frames)
    assert [frame["n"] for frame in frames] == list(range(1, thread.last_event + 1))
    assert html.count('id="state"') == html.count('id="panel"') == 1
    assert html.count("Let me look.") == html.count("Late.") == 1


def test_i4_a_replay_from_anywhere_is_the_rest_of_the_whole(ground):
    ground.script([{"text": "Let me look.", "calls": [{"name": "current_time"}]}, "Late."])
    thread = ground.open("What time is it?")
    run_all()
    view = fragments.viewpoint(thread, ground.alice)

    whole = fragments.draw_news(events.events_after(thread.pk, 0), view)

    for number in range(1, len(whole)):
        assert fragments.draw_news(events.events_after(thread.pk, number), view) == whole[number:]


def test_what_was_missed_adds_up_to_the_page_as_it_is_now(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    browser = signed_in(ground.alice)
    page = Page(browser, thread)
    run_all()
    branches.edit_message(said(thread, "One"), author=ground.alice, text="Uno")
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="Two")
    run_all()
    branches.show_branch(said(thread, "One"))
    lifecycle.send_message(thread, author=ground.alice, text="Three")
    run_all()

    page.poll()

    assert page.texts() == ["One", "You said: One", "Three", "You said: Three"]
    assert page.parts() == Page(browser, thread).parts()


def test_thousands_of_missed_events_come_in_two_seconds(ground):
    """Promise P5, on the server's side."""
    thread = ground.open("Hi")
    run_all()
    turn, message = last_turn(thread), thread.messages.last()
    first, missed = Thread.objects.get(pk=thread.pk).last_event, []
    for number in range(first + 1, first + 10_001):
        kind, payload = ("turn", {"turn": turn.pk}) if number % 2 else ("message", {"message": str(message.pk)})
        missed.append(TurnEvent(thread=thread, number=number, kind=kind, payload=payload))
    TurnEvent.objects.bulk_create(missed)
    Thread.objects.filter(pk=thread.pk).update(last_event=first + 10_000)
    thread.refresh_from_db()
    view, cursor, count = fragments.viewpoint(thread, ground.alice), 1, 0

    started = time.process_time()
    while frames := fragments.draw_news(events.events_after(thread.pk, cursor), view):
        cursor, count = frames[-1]["n"], count + len(frames)

    assert time.process_time() - started < 2
    assert cursor == thread.last_event == count + 1


async def test_report_p4_a_reply_that_was_stopped_grows_no_more_on_any_page_though_its_model_has_not_noticed(ground):
    thread = await sync_to_async(ground.open)("Tell me")
    turn, reply = await sync_to_async(half_a_reply)(thread)
    growing = live.begin(thread.pk, thread.pk, reply.pk, reply.sequence)
    socket = await open_socket(ground, thread)
    try:
        growing.on_text("Half of it")
        await until_it_says(socket, "Half of it")

        await sync_to_async(lifecycle.stop_turn)(turn.pk, by="Alice")
        await sync_to_async(commit_hooks)()
        frame = await until_it_says(socket, 'data-state="stopped"')
        growing.on_text(" and more")

        assert "Half of it" in frame and "and more" not in frame
        assert not [said for said in await all_said_in(socket, 0.6) if "and more" in said]
    finally:
        live.end(growing)
        await socket.disconnect()


def half_a_reply(thread):
    turn = last_turn(thread)
    claim_turn(turn.pk, holder="test:1")
    reply = add_message(
        thread.pk, role="assistant", turn=turn, round=0, state=Message.State.STREAMING, parent=turn.user_message
    )
    threads.extend_branch(reply)
    return turn, reply


async def until_it_says(socket, words):
    while words not in (frame := await socket.receive_from(timeout=60)).replace("\\", ""):
        pass
    return frame


async def all_said_in(socket, seconds):
    said, end = [], time.monotonic() + seconds
    while not await socket.receive_nothing(timeout=max(end - time.monotonic(), 0.01)):
        said.append(await socket.receive_from())
    return said


async def test_a_socket_that_missed_more_than_one_stretch_gets_all_of_it_at_once(ground):
    thread = await sync_to_async(many_events)(ground)
    socket = await open_socket(ground, thread)

    numbers = []
    while not numbers or numbers[-1] < thread.last_event:
        frame = json.loads(await socket.receive_from(timeout=60))
        numbers += [frame["n"]] if "n" in frame else []
    await socket.disconnect()

    assert numbers == list(range(2, thread.last_event + 1))


async def test_a_socket_on_which_nothing_goes_on_says_something_at_every_look(ground, monkeypatch):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.2)
    socket = await open_socket(ground, await sync_to_async(ground.open)("Hi"))

    said = await all_said_in(socket, 2)
    await socket.disconnect()

    assert len([frame for frame in said if frame.startswith('{"slow":')]) >= 3


async def open_socket(ground, thread):
    client = AsyncClient()
    await client.aforce_login(ground.alice)
    cookie = f"{site.SESSION_COOKIE_NAME}={client.cookies[site.SESSION_COOKIE_NAME].value}"
    headers = [(b"cookie", cookie.encode()), (b"origin", b"http://testserver"), (b"host", b"testserver")]
    socket = WebsocketCommunicator(application, f"/ws/c/{thread.chat_id}/?after=1", headers)
    connected, _ = await socket.connect()
    assert connected
    return socket


def many_events(ground):
    thread = ground.open("Hi")
    run_all()
    first = Thread.objects.get(pk=thread.pk).last_event
    numbers = range(first + 1, first + 1201)
    TurnEvent.objects.bulk_create(TurnEvent(thread=thread, number=number, kind="queue") for number in numbers)
    Thread.objects.filter(pk=thread.pk).update(last_event=numbers[-1])
    return Thread.objects.get(pk=thread.pk)


def test_the_owners_list_learns_at_once_that_a_call_waits_for_a_decision(ground, monkeypatch):
    thread = ground.open("Order it")
    turn = last_turn(thread)
    call = ToolCall.objects.create(
        turn=turn, message=turn.user_message, round=0, index=0, name="order", effect=ToolCall.Effect.ONCE, attempts=1
    )
    commit_hooks()
    poked = []
    monkeypatch.setattr(hub, "poke", lambda topic, **_: poked.append(topic))

    assert act._mark_cut_off(claim_turn(turn.pk, holder="test:1"), call)
    commit_hooks()

    assert f"user:{ground.alice.pk}" in poked
