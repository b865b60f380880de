"""Whatever shape a conversation's tree has: what is read of it for a page is what the whole tree says."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from assistants.models import Message, Thread, Turn, TurnEvent
from assistants.rendering.news import ends_of_turns, news_of, places_of_ends
from assistants.turns.outline import Outline, Window, around, before, end_of_branch, newest, outline_of, whole
from tests.kit import world

ROLES = ("user", "user", "user", "assistant", "assistant", "assistant", "system", "tool")
STATES = ("complete", "complete", "complete", "streaming", "queued")


@dataclass(frozen=True)
class Leaf:
    """A message: what it follows, counted backwards from it (0: nothing), what it is, and the turn it belongs to if any."""

    back: int
    role: str
    state: str
    turn: int | None


leaves = st.builds(
    Leaf,
    # Most follow what was said just before, as in a conversation that nobody edits.
    back=st.one_of(st.just(1), st.just(1), st.integers(0, 6)),
    role=st.sampled_from(ROLES),
    state=st.sampled_from(STATES),
    turn=st.none() | st.integers(0, 9),
)
# The shown end: a message, none, or one of another conversation.
ends = st.one_of(st.integers(0, 40), st.sampled_from(("none", "foreign")))


def grow(tree: list[Leaf], end: int | str) -> tuple[Thread, list[Message], list[Turn]]:
    """Writes the conversation straight into the record. Numbers have gaps, where something was taken back."""
    ground = world.build()
    thread = Thread.objects.create(tenant=ground.apes, owner=ground.alice, assistant=ground.lead)
    messages: list[Message] = []
    turns: list[Turn] = []
    for number, leaf in enumerate(tree):
        parent = messages[number - leaf.back] if 0 < leaf.back <= number else None
        turn = turns[leaf.turn % len(turns)] if leaf.turn is not None and turns else None
        messages.append(
            Message.objects.create(
                thread=thread, sequence=2 * number + 1, role=leaf.role, state=leaf.state, parent=parent, turn=turn, round=number
            )
        )
        if leaf.role == "user":
            state = Turn.State.QUEUED if leaf.state == "queued" else Turn.State.DONE
            turns += [Turn.objects.create(thread=thread, user_message=messages[-1], state=state) for _ in range(1 + number % 2)]
    elsewhere = ground.open("Elsewhere").messages.get()
    shown = messages[end % len(messages)] if isinstance(end, int) and messages else elsewhere if end == "foreign" else None
    Thread.objects.filter(pk=thread.pk).update(leaf=shown)
    return thread, messages, turns


def drawn(tree: Outline, window: Window) -> tuple[object, ...]:
    """All that a page draws of a stretch."""
    siblings = [tree.siblings(place.pk) for place in window.places]
    return window.places, window.older, window.newer, siblings, ends_of_turns(window)


class TestBranches(TestCase):
    @settings(max_examples=150, deadline=None)
    @given(st.lists(leaves, max_size=30), ends, st.integers(0, 62), st.integers(1, 8))
    def test_a_stretch_of_the_shown_branch_is_read_as_the_whole_tree_has_it(self, tree, end, number, count):
        thread, _, _ = grow(tree, end)
        all_of_it = outline_of(thread.pk)

        last = end_of_branch(thread.pk, count=count)
        far = end_of_branch(thread.pk, before=number, count=count)

        assert last.leaf == far.leaf == all_of_it.leaf
        assert len(last.path) <= count + 1
        assert drawn(last, newest(last.path, count)) == drawn(all_of_it, newest(all_of_it.path, count))
        for stretch in (before, around):
            assert drawn(far, stretch(far.path, number, count)) == drawn(all_of_it, stretch(all_of_it.path, number, count))

    @settings(max_examples=100, deadline=None)
    @given(st.lists(leaves, min_size=1, max_size=30), ends, st.lists(st.integers(0, 60), min_size=1, max_size=3))
    def test_what_events_are_about_is_found_wherever_it_stands(self, tree, end, picked):
        thread, messages, turns = grow(tree, end)
        subjects = [(messages + turns)[each % len(messages + turns)] for each in picked]
        all_of_it = outline_of(thread.pk)

        news = news_of([event_about(each) for each in subjects], thread.pk)

        places = places_of_ends(whole(all_of_it.path))
        for subject in subjects:
            if isinstance(subject, Turn):
                expected = [places[subject.pk]] if subject.pk in places else []
                assert [place for _, place in news.end_of(subject.pk)] == expected
            elif all_of_it.shows(subject.pk):
                assert news.messages[subject.pk] == subject
                assert news.outline.siblings(subject.pk) == all_of_it.siblings(subject.pk)
            else:
                assert not news.outline.shows(subject.pk)


def event_about(subject: Message | Turn) -> TurnEvent:
    if isinstance(subject, Turn):
        return TurnEvent(kind="turn", payload={"turn": subject.pk})
    return TurnEvent(kind="message", payload={"message": str(subject.pk)})
