"""Pages and commands over HTTP: form, access, one domain function, response."""

from django.contrib.auth import login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assistants import access, forms
from assistants.models import Thread
from assistants.rendering import fragments
from assistants.turns import events, lifecycle, questions


def actor(request: HttpRequest) -> access.Actor:
    return access.actor_of(request.user, request.session)


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The empty chat: choose an assistant and write."""
    who = actor(request)
    if isinstance(who, access.Visitor):
        return redirect("login")
    return render(
        request,
        "assistants/home.html",
        {"assistants": access.assistants_for(who).select_related("tenant"), "sidebar": fragments.draw_sidebar(who, None)},
    )


@require_POST
def open_thread(request: HttpRequest) -> HttpResponse:
    """Starts a conversation with its first message, both in one transaction (P2)."""
    form = forms.NewThread(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    who = actor(request)
    assistant = access.get_assistant(who, form.cleaned_data["assistant"])
    thread = lifecycle.open_thread(
        assistant,
        owner=who if not isinstance(who, access.Visitor) else None,
        text=form.cleaned_data["text"],
        client_key=form.cleaned_data["key"],
    )
    return forms.go_to(request, "thread", thread.chat_id)


@require_GET
def thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """A conversation's page. It carries the number of the last event that its content includes (D6)."""
    who = actor(request)
    with transaction.atomic():
        found = access.get_thread(who, chat_id)
        view = fragments.viewpoint(found, who, csrf_token=get_token(request))
        context = {
            "thread": found,
            "view": view,
            "can_write": view.can_write,
            "definition": view.definition,
            "log": fragments.draw_log(view),
            "state": fragments.draw_state(view),
            "heading": fragments.draw_heading(view),
            "panel": fragments.draw_panel(view),
            "sidebar": fragments.draw_sidebar(who, found),
            "seq": Thread.objects.values_list("last_event", flat=True).get(pk=found.pk),
        }
    return render(request, "assistants/thread.html", context)


@require_GET
def thread_events(request: HttpRequest, chat_id: str) -> HttpResponse:
    """What happened after event `after`, for pages whose socket is blocked."""
    who = actor(request)
    found = access.get_thread(who, chat_id)
    after = forms.cursor(request.GET.get("after"), found)
    if after is None:
        return JsonResponse({"reset": True})
    view = fragments.viewpoint(found, who)
    news = [
        {"n": event.number, "html": fragments.draw_event(event, view)} for event in events.events_after(found.pk, after)
    ]
    return JsonResponse({"events": news})


@require_POST
def send_message(request: HttpRequest, chat_id: str) -> HttpResponse:
    found = access.get_thread(actor(request), chat_id, "write")
    form = forms.Composer(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    questions.send_or_answer(found, author=_author(request), text=form.cleaned_data["text"], client_key=form.cleaned_data["key"])
    return forms.accepted(request, found)


@require_POST
def answer_question(request: HttpRequest, call_id: str) -> HttpResponse:
    call = access.get_call(actor(request), call_id, "write")
    questions.answer(
        call, by=_author(request), chosen=request.POST.getlist("option"), text=request.POST.get("text", "")
    )
    return forms.accepted(request, call.turn.thread)


@require_POST
def stop_turn(request: HttpRequest, turn_id: int) -> HttpResponse:
    turn = access.get_turn(actor(request), turn_id, "write")
    lifecycle.stop_turn(turn.pk, by=_name(request))
    return forms.accepted(request, turn.thread)


@require_POST
def retry_turn(request: HttpRequest, turn_id: int) -> HttpResponse:
    turn = access.get_turn(actor(request), turn_id, "write")
    lifecycle.retry_turn(turn)
    return forms.accepted(request, turn.thread)


@csrf_protect
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """The one-time sign-in link. Opening it shows a button, since a GET must change nothing (S14)."""
    user = access.user_of_link(uid, token)
    if user is None:
        return render(request, "assistants/enter.html", {"expired": True}, status=410)
    if request.method == "POST":
        login(request, user)
        return redirect("home")
    return render(request, "assistants/enter.html", {"person": user})


def _author(request: HttpRequest):  # type: ignore[no-untyped-def]
    who = actor(request)
    return None if isinstance(who, access.Visitor) else who


def _name(request: HttpRequest) -> str:
    who = actor(request)
    return "the visitor" if isinstance(who, access.Visitor) else who.display_name




@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """Answers once the process serves and its database can be read."""
    Thread.objects.exists()
    return JsonResponse({"ok": True})
