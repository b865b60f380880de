"""A conversation of any length, written straight into the record."""

from uuid import uuid4

from assistants.models import Message, Thread, Turn
from tests.kit.world import World

REPLY = "A **paragraph** with `code` and a list:\n\n- one\n- two\n\n```python\nprint('hello')\n```\n"


def long_thread(ground: World, messages: int) -> Thread:
    """Alice's, with so many messages: `Question 0`, `Answer 0. ...`, `Question 1` and so on."""
    thread = Thread.objects.create(tenant=ground.apes, owner=ground.alice, assistant=ground.lead, title="Long")
    rows, turns = [], []
    for number in range(messages // 2):
        turns.append(Turn(thread=thread, state="done"))
        rows.append(
            Message(pk=uuid4(), role="user", author=ground.alice, parts=[{"type": "text", "text": f"Question {number}"}])
        )
        rows.append(Message(pk=uuid4(), role="assistant", parts=[{"type": "text", "text": f"Answer {number}. {REPLY}"}]))
    turns = Turn.objects.bulk_create(turns)
    for number, row in enumerate(rows):
        row.thread, row.sequence, row.turn = thread, number + 1, turns[number // 2]
        row.parent = rows[number - 1] if number else None
    Message.objects.bulk_create(rows)
    for number, turn in enumerate(turns):
        turn.user_message = rows[2 * number]
    Turn.objects.bulk_update(turns, ["user_message"])
    Thread.objects.filter(pk=thread.pk).update(leaf=rows[-1], last_message=messages)
    thread.refresh_from_db()
    return thread
