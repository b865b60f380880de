"""What grows is stored for everybody at once, and only while its turn is held."""

from concurrent.futures import Future

from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistants.llm import loop
from assistants.llm.reply import Reply
from assistants.models import Message, Turn
from assistants.turns import live, partial, think
from assistants.turns.claims import claim_turn
from tests.kit.turns import last_turn, replies, run_all


class JustInTime(Future):
    """A model call that ends at the very moment at which somebody stops waiting for it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply

    def result(self, timeout=None):
        if not self.done():
            self.set_result(self.reply)
            raise TimeoutError
        return super().result(timeout)


def grow(ground, text: str) -> partial.Growth:
    """A turn in the middle of its reply."""
    turn = last_turn(ground.open("Hello"))
    claim = claim_turn(turn.pk, holder="test:1")
    _, message, _ = think._open_reply(claim)
    reply = live.LiveReply(turn.thread_id, turn.thread_id, message.pk, message.sequence)
    reply.on_text(text)
    return partial.begin(claim, reply, Future())


def stored(growth: partial.Growth) -> str:
    return Message.objects.get(pk=growth.reply.message_id).text


def test_all_growing_replies_are_stored_in_one_transaction(ground) -> None:
    growing = [grow(ground, f"text {number}") for number in range(20)]

    with CaptureQueriesContext(
        connection,
    ) as queries:
        partial.save(older_than=0)

    assert [stored(growth) for growth in growing] == [f"text {number}" for number in range(20)]
    assert len(queries) < 8
    for growth in growing:
        partial.end(growth)


def test_what_was_just_stored_is_left_alone(ground) -> None:
    growth = grow(ground, "one")
    partial.save(older_than=0)
    growth.reply.on_text(" two")

    partial.save(older_than=60)

    assert stored(growth) == "one"
    partial.end(growth)


def test_a_turn_that_was_taken_meanwhile_loses_its_model_call_d4(ground) -> None:
    lost, kept = grow(ground, "lost"), grow(ground, "kept")
    Turn.objects.filter(pk=lost.claim.turn_id).update(fence=99)

    partial.save(older_than=0)

    assert lost.lost and lost.stream.cancelled() and stored(lost) == ""
    assert not kept.lost and not kept.stream.cancelled() and stored(kept) == "kept"
    partial.end(lost)
    partial.end(kept)


def test_a_reply_that_was_finished_meanwhile_stays_as_it_is(ground) -> None:
    growth = grow(ground, "half")
    Message.objects.filter(pk=growth.reply.message_id).update(
        state=Message.State.COMPLETE, parts=[{"type": "text", "text": "whole"}]
    )

    partial.save(older_than=0)

    assert stored(growth) == "whole"
    partial.end(growth)


def test_a_reply_that_ends_just_when_it_is_to_be_saved_is_no_crash(ground, monkeypatch):
    def submit(coroutine):
        coroutine.close()
        return JustInTime(Reply(text="In time."))

    monkeypatch.setattr(loop, "submit", submit)
    thread = ground.open("Hello")

    run_all()

    assert replies(thread) == ["In time."] and (last_turn(thread).crashes, last_turn(thread).attempt) == (0, 1)
