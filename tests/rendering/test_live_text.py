"""What a page is sent of a reply that grows: its beginning once, blocks as they change, words alone."""

import uuid
from collections.abc import Iterator

import pytest

from assistants.rendering import live_text
from assistants.rendering.live_text import LiveText
from assistants.turns import live


@pytest.fixture
def reply() -> Iterator[live.LiveReply]:
    growing = live.begin(1, 1, uuid.uuid4(), 7, shown=True)
    yield growing
    live.end(growing)


def test_a_page_is_sent_only_what_is_new(reply: live.LiveReply) -> None:
    text, sent = LiveText(1), []

    for delta in ("One ", "two ", "three.\n\n```\nx", "\ny", "\nz"):
        reply.on_text(delta)
        sent.append(text.frames())

    assert sent[0] == [{"m": 7, "new": True}, {"m": 7, "b": 0, "h": "<p>One</p>\n"}]
    assert sent[1] == [{"m": 7, "b": 0, "t": " two"}]
    assert [frame["b"] for frame in sent[2]] == [0, 1]
    assert sent[4] == [{"m": 7, "b": 1, "a": "\nz"}]
    assert text.frames() == []


def test_a_page_that_was_drawn_anew_gets_all_of_it_but_no_place(reply: live.LiveReply) -> None:
    text = LiveText(1)
    reply.on_text("One")
    text.frames()

    text.start_over()

    assert text.frames() == [{"m": 7}, {"m": 7, "b": 0, "h": "<p>One</p>\n"}]


def test_report_p4_of_a_reply_that_the_record_has_ended_no_more_is_sent(reply: live.LiveReply) -> None:
    text = LiveText(1)
    reply.on_text("One")
    text.frames()

    text.start_over(ended=reply.message_id)
    reply.on_text(" and what nobody stored")

    assert text.frames() == []
    again = live.begin(1, 1, reply.message_id, 7)
    again.on_text("Another attempt")
    text.start_over()
    assert text.frames()[-1] == {"m": 7, "b": 0, "h": "<p>Another attempt</p>\n"}
    live.end(again)


def test_a_reply_on_a_branch_that_is_not_shown_gets_no_place_e4() -> None:
    growing = live.begin(2, 2, uuid.uuid4(), 9)
    growing.on_text("One")

    assert LiveText(2).frames()[0] == {"m": 9}
    live.end(growing)


def test_two_pages_share_one_drawing(reply: live.LiveReply) -> None:
    first, second = LiveText(1), LiveText(1)
    reply.on_text("One")

    assert first.frames() == second.frames()
    assert len([key for key in live_text._streams if key is reply]) == 1


@pytest.mark.parametrize(("seconds", "pause"), [(0.0005, 0.0), (0.002, 0.02), (0.05, 0.1)])
def test_only_a_slow_drawing_makes_a_pause(reply: live.LiveReply, seconds: float, pause: float) -> None:
    text = LiveText(1)
    reply.on_text("One")
    text.frames()

    text._stream.seconds = seconds

    assert text.pause == pytest.approx(pause)
