"""A clarifying question is answered once, by whoever may write: by its form, or by a plain message (J-30, Q8, Q17)."""

from typing import Any

from django.db import transaction

from assistants import clock
from assistants.errors import CodedError
from assistants.models import Thread, ToolCall, Turn, User

from . import events
from .calls import QUESTION_TOOL, open_question
from .lifecycle import Sent, send_message
from .refusals import already_answered
from .steering import interrupt
from .threads import lock_thread

__all__ = [
    "answer",
    "answer_plainly",
    "check_waiting",
    "open_question",
    "question_payload",
    "send_or_answer",
    "withdraw_question",
]

MAX_FREE_TEXT = 4000


def send_or_answer(thread: Thread, *, author: User | None, text: str, client_key: str, joins: str = Turn.Joins.NOT) -> Sent:
    """Sends a message; when the thread waits for an answer, the message is that answer in the person's own words.

    The words are relayed as they are, never as consent to anything. `joins` says what becomes of it while a turn runs:
    it waits behind the turn, is read at its next step, or interrupts it.
    """

    def answer_it(question: ToolCall) -> None:
        answer_plainly(question, by=author, text=text)

    sent = send_message(thread, author=author, text=text, client_key=client_key, joins=joins, answer=answer_it)
    if sent.turn.joins == Turn.Joins.INTERRUPT:
        # Only now: the runner is never waited for while the thread is locked. After a crash here the sweeper does it.
        interrupt(thread, by=author.display_name if author else "the visitor")
    return sent


def answer_plainly(question: ToolCall, *, by: User | None, text: str) -> None:
    """Closes a question with a message that was sent instead of an answer."""
    _close(question, by=by, chosen=[], text=text, plain=True)


def withdraw_question(thread: Thread) -> None:
    """Closes the question that the thread waits with, if any, without an answer: whoever asked has no use for one any more."""
    if question := open_question(thread):
        closed = {"chosen": [], "text": "", "plain": True, "withdrawn": True, "by": "", "at": clock.now().isoformat()}
        if ToolCall.objects.filter(pk=question.pk, answer__isnull=True).update(answer=closed):
            events.record(thread.pk, "call", call=str(question.pk))


def answer(call: ToolCall, *, by: User | None, chosen: list[str], text: str, client_key: str = "") -> Sent:
    """Answers the question with chosen options and free text; the answer becomes the thread's next user message.

    Raises `ALREADY_ANSWERED`, `QUESTION_PASSED`, `NOT_AN_OPTION`, `ANSWER_EMPTY`, `ANSWER_TOO_LONG`, `NO_FREE_TEXT`.
    """
    payload = question_payload(call)
    text = text.strip()
    _check(payload, chosen, text)
    with transaction.atomic():
        check_waiting(call)
        _close(call, by=by, chosen=chosen, text=text, plain=False)
        lines = [f"My answer to “{payload['question']}”:", *(f"- {option}" for option in chosen), *([text] if text else [])]
        return send_message(
            call.turn.thread,
            author=by,
            text="\n".join(lines),
            client_key=client_key or f"answer-{call.pk.hex}",
            parts=[{"type": "answer", "call": str(call.pk), "chosen": chosen, "free_text": text}],
        )


def question_payload(call: ToolCall) -> dict[str, Any]:
    """The question's arguments with their defaults. Raises `NOT_A_QUESTION`."""
    if call.name != QUESTION_TOOL or call.outcome != ToolCall.Outcome.OK:
        raise CodedError(code="NOT_A_QUESTION", message="This is not a question that can be answered.", correctable=False)
    return {"allowFreeText": True, **call.arguments}


def _check(payload: dict[str, Any], chosen: list[str], text: str) -> None:
    if unknown := [option for option in chosen if option not in payload["options"]]:
        raise CodedError(
            code="NOT_AN_OPTION",
            field="option",
            message=f"“{unknown[0][:80]}” is not one of the options.",
            fix="Choose from the options that are shown.",
        )
    if text and not payload["allowFreeText"]:
        raise CodedError(
            code="NO_FREE_TEXT", field="text", message="This question takes only its options.", fix="Choose an option."
        )
    if len(text) > MAX_FREE_TEXT:
        raise CodedError(
            code="ANSWER_TOO_LONG", field="text", message="The answer is longer than 4000 characters.", fix="Shorten it."
        )
    if not chosen and not text:
        raise CodedError(
            code="ANSWER_EMPTY", field="option", message="Nothing is chosen yet.", fix="Tick an option or write an answer."
        )


def check_waiting(call: ToolCall) -> None:
    """Locks the question's thread. Raises `QUESTION_PASSED` where the conversation went on, `ALREADY_ANSWERED` where somebody
    was quicker."""
    thread = lock_thread(call.turn.thread_id)
    call.refresh_from_db(fields=["answer"])
    if (call.answer is None and open_question(thread) != call) or (call.answer or {}).get("withdrawn"):
        raise CodedError(
            code="QUESTION_PASSED",
            message="The conversation went on without an answer to this question.",
            fix="Write a message, or go back to the branch that ends with the question.",
            correctable=False,
        )
    if call.answer is not None:
        raise already_answered()


def _close(call: ToolCall, *, by: User | None, chosen: list[str], text: str, plain: bool) -> None:
    """Stores the answer if there is none: two devices that answer at once give one answer (Q9)."""
    given = {
        "chosen": chosen,
        "text": text,
        "plain": plain,
        "by": by.display_name if by else "visitor",
        "at": clock.now().isoformat(),
    }
    if not ToolCall.objects.filter(pk=call.pk, answer__isnull=True).update(answer=given):
        raise already_answered()
    events.record(call.turn.thread_id, "call", call=str(call.pk))
