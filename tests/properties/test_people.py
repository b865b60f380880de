"""People answer, allow, refuse and steer in any order amid crashes: each word counts once, and the ledger holds (D8, P15)."""

import contextlib
import re
from collections.abc import Iterator
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from assistants.conversations.overview import waiting_calls
from assistants.errors import CodedError
from assistants.models import Assistant, Message, Thread, ToolCall, Turn, User
from assistants.tools import registry
from assistants.turns import approvals, calls, executors, lifecycle, questions
from assistants.turns.budget import cap_of
from assistants.turns.lifecycle import stop_turn
from assistants.turns.sweeper import sweep
from tests.budget.ledger import check, largest_call, spent
from tests.kit import turns
from tests.kit.sealed import Catcher, allow
from tests.properties.test_trees import TEAM_TOOLS, Clock, begin, check_record, happen, own_clock
from tests.properties.trees import Deed, Node, towns, wishes

CAPS = st.sampled_from([None, 0, 6_000, 20_000])


@contextlib.contextmanager
def catching() -> Iterator[Catcher]:
    known, made = dict(registry._tools), Catcher()
    made.declare("send", effect="once", sends_out=True, approval=True)
    yield made
    registry._tools.clear()
    registry._tools.update(known)


def settle_town(tree: Node, cap: int | None) -> Thread:
    """The tree's conversation, in which everybody may ask, send and delegate, within the cap."""
    thread = begin(tree)
    Assistant.objects.update(tools=[*TEAM_TOOLS, "send", "ask_clarifying_question"], turn_tokens=cap)
    return thread


def decide(waiting: ToolCall, deed: Deed) -> None:
    """The person's word on what waits for them; somebody else may have been quicker, or the turn is over."""
    alice = User.objects.get(username="alice")
    with contextlib.suppress(CodedError):
        if not waiting.is_open:
            questions.answer(waiting, by=alice, chosen=[waiting.arguments["options"][deed.nth % 2]], text="")
        elif waiting.needs_decision:
            calls.decide_call(waiting, happened=bool(deed.nth), by="alice")
        elif deed.nth:
            allow(waiting, alice)
        else:
            approvals.reject(waiting, by=alice, name="alice", words="Not now.")


def wish(deed: Deed, moving: Clock) -> None:
    match deed.kind:
        case "decide" if found := list(waiting_calls().order_by("pk")):
            decide(found[deed.which % len(found)], deed)
        case "steer" if found := list(Turn.objects.active().select_related("thread").order_by("pk")):
            thread = found[deed.which % len(found)].thread
            told = Message.objects.filter(thread=thread, role="user").order_by("sequence").first()
            joins = [Turn.Joins.STEER, Turn.Joins.INTERRUPT, Turn.Joins.NOT][deed.nth]
            text = f"Mind {re.search(r'<[0-9.]+>', told.text)[0]}"
            lifecycle.send_message(thread, author=User.objects.get(username="alice"), text=text, joins=joins)
        case _:
            happen(deed, moving)
    turns.commit_hooks()


def rest(moving: Clock) -> None:
    """Lets people say what they are asked for until nobody is, and stops what waits for tokens."""
    for _ in range(60):
        turns.run_all()
        for found in waiting_calls().order_by("pk"):
            decide(found, Deed("decide", nth=found.pk.int % 2))
        for turn in Turn.objects.active().filter(state=Turn.State.PAUSED, reason="limit:budget"):
            stop_turn(turn.pk, by="alice")
        if not executors.rung and not waiting_calls().exists() and not Turn.objects.exclude(state__in=Turn.FINAL).exists():
            return
        moving.moved += timedelta(seconds=70)
        sweep()
        turns.commit_hooks()
    raise AssertionError(f"not at rest: {list(Turn.objects.active().values('pk', 'state', 'reason'))}")


def check_words(caught: Catcher) -> None:
    """A refused call never ran, what ran was allowed, and an answered question was answered once."""
    sent = ToolCall.objects.filter(name="send")
    refused = sent.filter(code="APPROVAL_REJECTED")
    assert not refused.exclude(attempts=0).exists()
    assert {each["text"] for each in caught.caught} <= {each.arguments["text"] for each in sent if each.attempts}
    assert not sent.filter(outcome=ToolCall.Outcome.OK).exclude(approval__state="used").exists()
    answered = ToolCall.objects.filter(name="ask_clarifying_question").exclude(answer=None)
    replies = [message for message in Message.objects.filter(role="user") if "option of" in message.text]
    assert len(replies) == sum(1 for each in answered if each.answer.get("chosen"))


class People(TestCase):
    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tree=towns, cap=CAPS, story=st.lists(wishes, max_size=25))
    def test_j13_whatever_people_say_when_each_word_counts_once_and_the_tree_keeps_to_its_cap(
        self, tree: Node, cap: int | None, story: list[Deed]
    ) -> None:
        with own_clock() as moving, catching() as caught:
            settle_town(tree, cap)

            for deed in story:
                wish(deed, moving)
            rest(moving)

            check_record()
            check_words(caught)
            for root in Turn.objects.filter(root=None):
                check(root)
                assert not cap_of(root) or spent(root) <= cap_of(root) + largest_call(root)
