"""Whose session it is that a request names: Django's own store and check, but with queries that are put together once."""

from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from assistants.models import User
from assistants.models.prepared import Prepared

_SESSIONS = Prepared(lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now))
_PEOPLE = Prepared(lambda pk: User.objects.filter(pk=pk))


class People(ModelBackend):
    """Signs people in as Django does."""

    def get_user(self, user_id: Any) -> User | None:
        user = _PEOPLE.first(user_id)
        return user if user and self.user_can_authenticate(user) else None


class SessionStore(db.SessionStore):
    """Keeps sessions where Django does, and as it does."""

    def load(self) -> dict[str, Any]:
        """What the session holds. One that began before we had a backend of our own names Django's."""
        held = super().load()
        if held.get(BACKEND_SESSION_KEY) == f"{ModelBackend.__module__}.{ModelBackend.__qualname__}":
            held[BACKEND_SESSION_KEY] = f"{People.__module__}.{People.__qualname__}"
        return held

    def _get_session_from_db(self) -> Session | None:
        found = _SESSIONS.first(self.session_key, timezone.now())
        if found is None:
            # As for Django, one that has ended gives its key to no new one.
            self._session_key = None
        return found
