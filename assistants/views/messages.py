"""What a person says: messages, other wordings, answers to questions."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from assistants import access, forms
from assistants.turns import branches, lifecycle, questions, queue

from .person import actor, author, check_rate, visitor_key


@require_POST
def open_thread(request: HttpRequest) -> HttpResponse:
    """Starts a conversation with its first message, both in one transaction (P2)."""
    form = forms.NewThread(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    assistant = access.get_assistant(actor(request), form.cleaned_data["assistant"])
    if author(request) is None:
        access.visitor_of(request.session)
        check_rate(request)
    thread = lifecycle.open_thread(
        assistant,
        owner=author(request),
        text=form.cleaned_data["text"],
        client_key=form.cleaned_data["key"],
        visitor_key=visitor_key(request),
    )
    return forms.replied(forms.go_to(request, "thread", thread.chat_id, chat_id=thread.chat_id))


@require_POST
def send_message(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Sends a message, or answers the open question with it; while a turn runs it waits, steers or interrupts."""
    found = access.get_thread(actor(request), chat_id, "write")
    form = forms.Composer(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    check_rate(request)
    text, key, how = (form.cleaned_data[field] for field in ("text", "key", "how"))
    sent = questions.send_or_answer(found, author=author(request), text=text, client_key=key, joins=how)
    return forms.replied(forms.accepted(request, found, message=str(sent.message.pk), turn=sent.turn.pk))


@require_POST
def edit_message(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Words an earlier message anew, on a branch of its own (E4)."""
    message = access.get_message(actor(request), message_id, "write")
    form = forms.Composer(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    check_rate(request)
    text, key = form.cleaned_data["text"], form.cleaned_data["key"]
    sent = branches.edit_message(message, author=author(request), text=text, client_key=key)
    return forms.accepted(request, message.thread, message=str(sent.message.pk), turn=sent.turn.pk)


@require_POST
def show_branch(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Shows the branch that leads through this message."""
    message = access.get_message(actor(request), message_id, "write")
    branches.show_branch(message)
    return forms.accepted(request, message.thread, anchor=f"#m{message.sequence}")


@require_POST
def answer_question(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """Answers a question with ticked options and own words (J-30)."""
    call = access.get_call(actor(request), call_id, "write")
    check_rate(request)
    if queued := request.POST.get("queued"):
        waiting = access.get_turn(actor(request), forms.number_in(queued) or 0, "write")
        sent = queue.use_as_answer(waiting, call, by=author(request))
    else:
        chosen, text = request.POST.getlist("option"), request.POST.get("text", "")
        sent = questions.answer(call, by=author(request), chosen=chosen, text=text)
    return forms.accepted(request, call.turn.thread, message=str(sent.message.pk), turn=sent.turn.pk)
