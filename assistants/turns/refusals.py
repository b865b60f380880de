"""What a thread does not accept from a person, and what to do instead; nothing is stored and the page keeps the draft."""

from django.conf import settings

from assistants.errors import CodedError
from assistants.models import Thread, Turn
from assistants.models.definition import definition_of

MAX_QUEUED = 20


def check_text(text: str) -> None:
    """Refuses an empty or oversized message; nothing is stored and the page keeps the draft."""
    if not text.strip():
        raise CodedError(code="MESSAGE_EMPTY", field="text", message="The message is empty.", fix="Write something first.")
    limit = settings.TASKMONKEY["MAX_MESSAGE_BYTES"]
    if len(text.encode("utf-8", "replace")) > limit:
        raise CodedError(
            code="MESSAGE_TOO_LONG",
            field="text",
            message=f"The message is longer than {limit // 1024} KB. It was not sent, and your text was kept.",
            fix="Shorten it, or put the text into a document folder.",
        )


def check_answerable(thread: Thread) -> None:
    """Raises `ASSISTANT_DISABLED` when nobody would answer in this thread."""
    if not definition_of(thread).enabled:
        raise CodedError(
            code="ASSISTANT_DISABLED",
            message="This assistant is switched off or was deleted. Your text was kept.",
            fix="Choose another assistant, or ask an admin.",
            correctable=False,
        )


def check_queue(thread: Thread, *, branching: bool) -> None:
    """Whether one more message may wait behind the running turn. Raises `TURN_ACTIVE` for a new branch, `QUEUE_FULL`."""
    if branching:
        raise turn_active()
    if thread.turns.filter(state=Turn.State.QUEUED).count() >= MAX_QUEUED:
        raise CodedError(
            code="QUEUE_FULL",
            message=f"{MAX_QUEUED} messages wait already. This one was not sent, and your text was kept.",
            fix="Wait for an answer, or take a waiting message back.",
        )


def turn_active() -> CodedError:
    return CodedError(
        code="TURN_ACTIVE",
        message="This conversation is being answered right now.",
        fix="Wait for the answer or stop it first.",
    )


def nothing_to_retry() -> CodedError:
    return CodedError(
        code="NOTHING_TO_RETRY",
        message="There is nothing to answer again here.",
        fix="Send a message.",
        correctable=False,
    )


def not_queued() -> CodedError:
    return CodedError(
        code="NOT_QUEUED",
        message="This message is not waiting any more: it was sent or taken back.",
        fix="Look at the conversation.",
        correctable=False,
    )


def already_answered() -> CodedError:
    return CodedError(
        code="ALREADY_ANSWERED",
        message="This question was answered already.",
        fix="Reload to see the answer.",
        correctable=False,
    )
