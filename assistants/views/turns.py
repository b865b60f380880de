"""What a person does with turns: stop, answer again, let wait or go first, and say how a cut-off call ended."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from assistants import access, forms
from assistants.turns import allowance, calls, lifecycle, queue, steering

from .person import actor, author, check_rate, name


@require_POST
def stop_turn(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Stops the turn and everything below it; a second stop is harmless (T7)."""
    turn = access.get_turn(actor(request), turn_id, "write")
    lifecycle.stop_turn(turn.pk, by=name(request))
    return forms.accepted(request, turn.thread)


@require_POST
def retry_turn(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Answers the turn's message again, as a sibling of the answer it got."""
    turn = access.get_turn(actor(request), turn_id, "write")
    check_rate(request)
    again = lifecycle.retry_turn(turn)
    return forms.accepted(request, turn.thread, turn=again.pk)


@require_POST
def top_up(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Lets a turn that has used up its tokens go on with more of them: its owner's to decide, never a visitor's."""
    who = actor(request)
    turn = access.get_turn(who, turn_id, "write")
    if not isinstance(who, access.User):
        raise access.not_allowed()
    if tokens := allowance.top_up(turn.pk):
        access.audit("budget_raised", tenant_id=turn.thread.tenant_id, user=who, target=f"turn {turn.pk}", tokens=tokens)
    return forms.accepted(request, turn.thread)


@require_POST
def send_now(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Lets this queued message go first, and no other (S15)."""
    turn = access.get_turn(actor(request), turn_id, "write")
    queue.send_now(turn, by=author(request), name=name(request))
    return forms.accepted(request, turn.thread)


@require_POST
def steer(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Lets a queued message be read at the next step of the turn that runs."""
    turn = access.get_turn(actor(request), turn_id, "write")
    steering.steer(turn)
    return forms.accepted(request, turn.thread)


@require_POST
def unqueue(request: HttpRequest, turn_id: int) -> HttpResponse:
    """Takes a queued message back. Its text comes with the answer, since it is stored nowhere any more."""
    turn = access.get_turn(actor(request), turn_id, "write")
    text = queue.unqueue(turn)
    if forms.is_plain_form(request):
        return render(request, "assistants/taken_back.html", {"thread": turn.thread, "text": text})
    return JsonResponse({"chat_id": turn.thread.chat_id, "text": text})


@require_POST
def decide_call(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """Says whether a call that was cut off and may not be repeated has happened (F06)."""
    call = access.get_call(actor(request), call_id, "write")
    form = forms.Decision(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    calls.decide_call(call, happened=form.cleaned_data["happened"], by=name(request))
    return forms.accepted(request, call.turn.thread)
