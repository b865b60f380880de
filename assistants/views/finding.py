"""Where a person looks for what was said, and for what waits for them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from assistants import access
from assistants.conversations.inbox import inbox_of
from assistants.conversations.search import search as find
from assistants.rendering import fragments
from assistants.turns import periods

from .person import actor


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Conversations by title and text, among those that the person may read; a fragment for htmx, else a page."""
    who = actor(request)
    query = request.GET.get("q", "")
    context = {"q": query, "found": find(query, access.threads_for(who))}
    if request.headers.get("HX-Request"):
        return render(request, "assistants/search.html", context)
    return render(request, "assistants/search_page.html", {**context, "sidebar": fragments.draw_sidebar(who, None)})


@require_GET
def inbox(request: HttpRequest) -> HttpResponse:
    """What waits for the person, what runs, what is done and not seen yet, and what was put away."""
    who = actor(request)
    if isinstance(who, access.Visitor) and not who.key:
        return redirect("login")
    return render(request, "assistants/inbox.html", {"inbox": inbox_of(who), "sidebar": fragments.draw_sidebar(who, None)})


@require_GET
def budget(request: HttpRequest) -> HttpResponse:
    """What the person, their groups and their teams may use in the present period, and what of it is used."""
    who = actor(request)
    if not isinstance(who, access.User):
        return redirect("login")
    found = [
        each for member in who.memberships.select_related("tenant") for each in periods.accounts_of(who.pk, member.tenant_id)
    ]
    return render(request, "assistants/budget.html", {"accounts": found, "sidebar": fragments.draw_sidebar(who, None)})
