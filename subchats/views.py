"""What a person does with a sub-chat: send its new result up, run it again."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from assistants import access, forms
from assistants.models import User
from assistants.turns import lifecycle
from subchats.delegation.send_back import send_back as send_back_result


@require_POST
def send_back(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Leads to the parent, where its assistant goes on from the new result."""
    actor = access.actor_of(request.user, request.session)
    child = access.get_thread(actor, chat_id, "write")
    sent = send_back_result(child, by=actor if isinstance(actor, User) else None)
    return forms.go_to(request, "thread", sent.message.thread.chat_id)


@require_POST
def run_again(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Answers the sub-chat's last message once more, in the sub-chat itself (D16)."""
    actor = access.actor_of(request.user, request.session)
    child = access.get_thread(actor, chat_id, "write")
    lifecycle.retry_turn(lifecycle.last_turn(child))
    return forms.accepted(request, child)
