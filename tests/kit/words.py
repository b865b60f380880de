"""Short ways to say what tests of conversations say often."""

from django.urls import reverse

from assistants.models import Message, Thread, ToolCall, Turn
from assistants.turns.outline import outline_of
from assistants.turns.sweeper import sweep
from tests.kit.turns import commit_hooks, run_all


def url(name: str, subject: object) -> str:
    """The address of a command on a thread, a message, a turn or a call."""
    return reverse(name, args=[subject.chat_id if isinstance(subject, Thread) else subject.pk])


def shown(thread: Thread) -> list[str]:
    """The texts on the branch that the page shows."""
    texts = {message.pk: message.text for message in thread.messages.all()}
    return [texts[place.pk] for place in outline_of(thread.pk).path]


def said(thread: Thread, text: str) -> Message:
    """The message with this text."""
    return next(message for message in thread.messages.all() if message.text == text)


def cut_off_call(turn: Turn) -> ToolCall:
    """A call of the turn that must not be repeated and was cut off by a crash: only a person can say how it ended."""
    call = ToolCall.objects.create(
        turn=turn,
        message=turn.user_message,
        round=0,
        index=0,
        name="order",
        effect=ToolCall.Effect.ONCE,
        attempts=1,
        needs_decision=True,
    )
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.WAITING)
    return call


def run_with_rests(times: int = 6) -> None:
    """Runs every turn, and wakes those that rest after a failed call until none is left."""
    for _ in range(times):
        commit_hooks()
        run_all()
        if not Turn.objects.filter(state=Turn.State.PAUSED).update(wake_at="2000-01-01T00:00:00Z"):
            return
        sweep()
    raise AssertionError("a turn rests for ever")
