"""Hands the newest result of a sub-chat up to its parent, where the parent's assistant goes on from it."""

from django.db import transaction
from django.utils.text import Truncator

from assistants.errors import CodedError
from assistants.models import Thread, Turn, User
from assistants.models.definition import definition_of
from assistants.tools.guard.results import check_forwarded
from assistants.turns import taint
from assistants.turns.lifecycle import Sent, send_message
from assistants.turns.prompt import last_said
from subchats.models import Delegation

from .deliver import final_text

ASKED_CHARS = 200


def send_back(child: Thread, *, by: User | None) -> Sent:
    """Sends the result of the child's last turn, and what it was asked there, as a message into the parent's thread; once
    for each turn.

    Raises `NO_PARENT`, `NOTHING_NEW`, `GUARD_BLOCKED`.
    """
    delegation = Delegation.objects.filter(child=child).first()
    if delegation is None or child.parent is None:
        raise CodedError(code="NO_PARENT", message="This conversation has no parent to send a result to.", correctable=False)
    turn = child.turns.filter(state=Turn.State.DONE).exclude(reason="question").order_by("-pk").first()
    text = final_text(turn) if turn else ""
    if turn is None or not text:
        raise CodedError(
            code="NOTHING_NEW",
            message="There is no finished result in this sub-chat yet.",
            fix="Wait for its answer, or ask it something.",
        )
    said = last_said(turn)
    asked = Truncator(" ".join(said.text.split())).chars(ASKED_CHARS) if said else ""
    check_forwarded(f"{asked}\n\n{text}")
    name = definition_of(child).name
    about = f" on “{asked}”" if asked else ""
    with transaction.atomic():
        Delegation.objects.filter(pk=delegation.pk, sent_turn__lt=turn.pk).update(sent_turn=turn.pk)
        taint.flow(child.pk, child.parent.pk)
        return send_message(
            child.parent,
            author=by,
            text=f"New result from the sub-chat with {name} ({child.chat_id}){about}:\n\n{text}",
            client_key=f"back-{turn.pk}",
            parts=[{"type": "sub_result", "chat_id": child.chat_id, "turn": turn.pk, "name": name, "asked": asked}],
        )
