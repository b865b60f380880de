"""Who sends a request, and whether they may send one more."""

from django.http import HttpRequest

from assistants import access
from assistants.conversations.visitors import check_visitor
from assistants.models import User


def actor(request: HttpRequest) -> access.Actor:
    """The signed-in user, else the visitor of this session."""
    return access.actor_of(request.user, request.session)


def author(request: HttpRequest) -> User | None:
    """The signed-in user; None for a visitor."""
    who = actor(request)
    return who if isinstance(who, User) else None


def name(request: HttpRequest) -> str:
    """Who it was, for the record of a thread."""
    who = author(request)
    return who.display_name if who else "the visitor"


def visitor_key(request: HttpRequest) -> str:
    """The key of the visitor's conversations; empty for a signed-in user."""
    who = actor(request)
    return who.key if isinstance(who, access.Visitor) else ""


def check_rate(request: HttpRequest) -> None:
    """Raises `TOO_MANY_MESSAGES` for a visitor who has let the models work enough for an hour."""
    who = actor(request)
    if isinstance(who, access.Visitor):
        check_visitor(who, request.META.get("REMOTE_ADDR", ""))
