"""Browsers and programs in which a person is signed in, or nobody is."""

from django.test import Client

from assistants.models import User

PAGE = {"Accept": "text/html,application/xhtml+xml"}
HTMX = {"HX-Request": "true"}
PROGRAM = {"Accept": "application/json"}


def signed_in(user: User, **headers: str) -> Client:
    """A browser with this person's session. Without headers it speaks like `fetch`: it takes anything."""
    client = Client(headers=headers)
    client.force_login(user)
    return client


def stranger(**headers: str) -> Client:
    """A browser in which nobody is signed in."""
    return Client(headers=headers)
