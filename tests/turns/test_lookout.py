"""A look into the database makes up for every hint that was lost (D1, P10, F14)."""

import pytest

from assistants import clock
from assistants.models import Message, Turn
from assistants.turns import events, hub, live
from assistants.turns.calls import add_message
from assistants.turns.lookout import SILENT_SECONDS, Lookout
from tests.kit.turns import commit_hooks, last_turn


@pytest.fixture
def seconds(monkeypatch):
    """The monotonic clock, to be moved on."""
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def watch(monkeypatch):
    """Watchers of topics: what is watched here, and what was woken since the last look at it."""
    watched = Watched()
    monkeypatch.setattr(hub, "watched", lambda: list(watched.topics))
    monkeypatch.setattr(hub, "wake", lambda topic, but="": watched.woken.append(topic))
    yield watched
    for thread_id in [int(topic.removeprefix("text:")) for topic in watched.topics if topic.startswith("text:")]:
        if reply := live.current(thread_id):
            live.end(reply)


class Watched:
    def __init__(self):
        self.topics, self.woken = [], []

    def news(self):
        news, self.woken[:] = set(self.woken), []
        return news & set(self.topics)


def test_a_change_that_nobody_told_of_is_seen_at_the_next_look(ground, watch):
    thread = ground.open()
    watch.topics = [f"thread:{thread.pk}", f"tree:{thread.pk}"]
    lookout = Lookout()
    lookout.look()
    watch.news()

    lookout.look()
    assert watch.news() == set()
    events.record(thread.pk, "thread")
    lookout.look()

    assert watch.news() == {f"thread:{thread.pk}"}


def test_whoever_has_just_begun_to_watch_is_told_to_look_once_more(ground, watch):
    thread = ground.open()
    lookout = Lookout()
    lookout.look()
    watch.topics = [f"thread:{thread.pk}"]

    lookout.look()

    assert watch.news() == {f"thread:{thread.pk}"}


def test_a_sub_chats_events_wake_whoever_watches_the_tree(ground, watch):
    thread = ground.open()
    child = ground.open("Below")
    type(child).objects.filter(pk=child.pk).update(root=thread, parent=thread)
    watch.topics = [f"tree:{thread.pk}"]
    lookout = Lookout()
    lookout.look()
    watch.news()

    events.record(child.pk, "thread")
    lookout.look()

    assert watch.news() == {f"tree:{thread.pk}"}


def test_p6_text_of_a_process_that_can_not_tell_is_shown_as_it_was_saved(ground, watch, seconds):
    thread = growing(ground, "Once upon")
    watch.topics = [f"text:{thread.pk}"]
    lookout = Lookout()
    lookout.look()
    assert live.current(thread.pk) is None

    seconds[0] += SILENT_SECONDS
    lookout.look()

    assert live.current(thread.pk).text == "Once upon"
    assert watch.news() == {f"text:{thread.pk}"}
    save(thread, "Once upon a time")
    seconds[0] += 0.1
    lookout.look()
    seconds[0] += SILENT_SECONDS
    lookout.look()
    assert live.current(thread.pk).text == "Once upon a time"


def test_a_reply_that_ended_without_a_word_is_no_longer_shown_as_growing(ground, watch, seconds):
    thread = growing(ground, "Half a")
    watch.topics = [f"text:{thread.pk}"]
    lookout = Lookout()
    for _ in range(2):
        lookout.look()
        seconds[0] += SILENT_SECONDS
    assert live.current(thread.pk).is_copy

    thread.messages.filter(state=Message.State.STREAMING).update(state=Message.State.COMPLETE)
    lookout.look()
    seconds[0] += SILENT_SECONDS
    lookout.look()

    assert live.current(thread.pk) is None


def test_a_reply_that_grows_in_this_process_is_left_alone(ground, watch, seconds):
    thread = growing(ground, "old")
    reply = live.begin(thread.pk, thread.pk, thread.messages.get(role="assistant").pk, 2)
    reply.on_text("own words")
    watch.topics = [f"text:{thread.pk}"]
    lookout = Lookout()
    for _ in range(3):
        lookout.look()
        seconds[0] += SILENT_SECONDS

    assert live.current(thread.pk) is reply and reply.text == "own words"


def growing(ground, text):
    thread = ground.open()
    commit_hooks()
    turn = last_turn(thread)
    assert turn.state == Turn.State.THINKING
    add_message(thread.pk, role=Message.Role.ASSISTANT, turn=turn, round=0, state=Message.State.STREAMING)
    save(thread, text)
    return thread


def save(thread, text):
    thread.messages.filter(state=Message.State.STREAMING).update(parts=[{"type": "text", "text": text}])
