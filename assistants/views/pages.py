"""The pages of a conversation, and what they fetch while they are open."""

from dataclasses import asdict, replace

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from assistants import access, forms
from assistants.conversations.snapshot import snapshot_of
from assistants.errors import CodedError
from assistants.llm.detect import describe
from assistants.models import Tenant, Thread, User
from assistants.models.definition import Definition, define, profile_for
from assistants.rendering import fragments, updates
from assistants.sentences import spoken
from assistants.templatetags.conversations import first_choice
from assistants.turns import events, outline

from .person import actor


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The empty chat: choose an assistant and write. A visitor sees it if there is a public assistant."""
    who = actor(request)
    assistants = list(access.assistants_for(who).select_related("tenant"))
    if isinstance(who, access.Visitor) and not assistants:
        return redirect("login")
    first = first_choice(assistants, request.GET.get("assistant")) if assistants else None
    assistants.sort(key=lambda each: each != first)
    context = {
        "assistants": assistants,
        "sidebar": fragments.draw_sidebar(who, None),
        "model_line": model_line(define(first), first.tenant, who) if first else "",
    }
    return render(request, "assistants/home.html", context)


@require_GET
def thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """A conversation's page, with the number of the last event that its content includes for certain (D6).

    With `?at=<message number>` it opens at that message: where the page would not show it, as an excerpt that only
    reads (Z4).
    """
    who = actor(request)
    # The number is read before all else: what happens meanwhile is drawn and told again, which changes nothing. Read
    # last, it would count in what was not drawn yet, unless one transaction kept every writer waiting.
    view = fragments.view_of(who, chat_id, csrf_token=get_token(request))
    found = view.thread
    context = {
        "thread": found,
        "definition": view.definition,
        "sidebar": fragments.draw_sidebar(who, found),
        "model_line": model_line(view.definition, found.tenant, who),
        "ancestors": ancestors_of(found),
    }
    if (stretch := _elsewhere(found, request.GET.get("at"))) is not None:
        return render(request, "assistants/excerpt.html", {**context, **_excerpt(view, *stretch)})
    context |= {
        "view": view,
        "can_write": view.can_write,
        "can_share": view.can_write and found.parent_id is None and isinstance(who, User),
        "log": fragments.draw_log(view),
        "state": fragments.draw_state(view),
        "heading": fragments.draw_heading(view),
        "panel": fragments.draw_panel(view),
        "seq": found.last_event,
    }
    return render(request, "assistants/thread.html", context)


def _elsewhere(found: Thread, at: str | None) -> tuple[outline.Outline, outline.Window] | None:
    """The stretch around a message that is older than what the page holds at first, or on another branch."""
    number = forms.number_in(at)
    if number is None:
        return None
    tree = outline.end_of_branch(found.pk, before=number)
    place = tree.at(number)
    if place in outline.newest(tree.path).places:
        return None
    if place in tree.path:
        return tree, outline.around(tree.path, number)
    tree = outline.outline_of(found.pk)
    place = tree.at(number)
    return (tree, outline.around(tree.path_to(tree.newest_below(place.pk)), number)) if place else None


def _excerpt(view: fragments.Viewpoint, tree: outline.Outline, window: outline.Window) -> dict[str, object]:
    reading = replace(view, can_write=False)
    entries = fragments.draw_entries(reading, tree, replace(window, older=None))
    return {"view": reading, "can_write": False, "entries": entries, "older": window.older, "newer": window.newer}


@require_GET
def thread_older(request: HttpRequest, chat_id: str) -> HttpResponse:
    """The messages of the shown branch before number `before`, to be put in place of the way to them (X8)."""
    who = actor(request)
    view = fragments.view_of(who, chat_id, csrf_token=get_token(request))
    before = forms.number_in(request.GET.get("before"))
    if before is None:
        raise Http404("No such message.")
    tree = outline.end_of_branch(view.thread.pk, before=before)
    return HttpResponse(fragments.draw_entries(view, tree, outline.before(tree.path, before)))


@require_GET
def thread_events(request: HttpRequest, chat_id: str) -> HttpResponse:
    """What a socket would have sent since event `after`, for pages whose socket is blocked: numbered events, then the
    growing text, the cards of work that goes on, and the list of conversations."""
    view = fragments.view_of(actor(request), chat_id)
    found = view.thread
    after = forms.cursor(request.GET.get("after"), found)
    if after is None:
        return JsonResponse({"reset": True})
    update = updates.draw_update(view, events.events_after(found.pk, after), updates.PARTS)
    frames: list[dict[str, object]] = [*update.news, *fragments.draw_growing(found)]
    frames += [{"html": html} for pieces in update.pieces.values() for html in pieces.values()]
    return JsonResponse({"events": frames})


@require_GET
def thread_state(request: HttpRequest, chat_id: str) -> HttpResponse:
    """The conversation as data, for programs (Q12)."""
    found = access.get_thread(actor(request), chat_id)
    return JsonResponse(asdict(snapshot_of(found)))


def model_line(definition: Definition, tenant: Tenant, who: access.Actor) -> str:
    """Which model answers, in a sentence; only whoever may set it up is told how, or why it can't be reached."""
    sets_up = isinstance(who, User) and who.is_staff and access.may(who, "manage", tenant)
    try:
        profile = profile_for(definition, tenant)
    except CodedError as error:
        unreachable = "The model can't be reached as it is set up. An admin of the team can mend that."
        return spoken(error.told if sets_up else unreachable)
    return spoken(describe(profile, to="admin" if sets_up else "member" if isinstance(who, User) else "visitor"))


def ancestors_of(found: Thread) -> list[Thread]:
    """The conversations above a sub-chat, the topmost first."""
    above: list[Thread] = []
    while found.parent is not None:
        found = found.parent
        above.insert(0, found)
    return above
