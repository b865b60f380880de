"""Looks at many open pages at once: whether those who are there may still see them, by the same rights as any request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session

from assistants import access, clock
from assistants.models import Membership, Thread, ThreadShare, User
from assistants.models.prepared import Prepared

# Who looks, the session of their page, and the conversation on it.
View = tuple[access.Actor, SessionBase, str]
_SESSIONS = Prepared(
    lambda keys, now: Session.objects.filter(session_key__in=keys, expire_date__gt=now).values_list(
        "session_key", "session_data"
    )
)
_PASSWORDS = Prepared(lambda users: User.objects.filter(pk__in=users, is_active=True).values_list("pk", "password"))
_THREADS = Prepared(
    lambda chat_ids: (
        Thread.objects.filter(chat_id__in=chat_ids)
        .select_related("assistant", "root__assistant")
        .only(
            "chat_id",
            *(f"{at}{name}" for at in ("", "root__") for name in ("tenant", "owner", "visitor_key", "assistant__public")),
        )
    )
)
_ROLES = Prepared(
    lambda users: Membership.objects.filter(user__pk__in=users, user__is_active=True).values_list("user", "tenant", "role")
)
_SHARES = Prepared(
    lambda roots, users: ThreadShare.objects.filter(thread__pk__in=roots, user__pk__in=users).values_list("thread", "user")
)


@dataclass(frozen=True)
class Sight:
    """Whether the stored session is still the person's (not ended, not run out, the password not changed since: S08, S13), and
    whether they may still read the thread."""

    is_here: bool
    is_readable: bool


def look_all(views: Sequence[View]) -> list[Sight]:
    """What each page is to the one who looks, now. For what outlives its request; a request asks the session by itself."""
    users = {actor.pk for actor, _, _ in views if isinstance(actor, User)}
    sessions = dict(_SESSIONS.rows({session.session_key or "" for _, session, _ in views}, clock.now()))
    passwords = dict(_PASSWORDS.rows(users))
    threads = {thread.chat_id: thread for thread in _THREADS.rows({chat_id for _, _, chat_id in views})}
    rights = _RightsRead(users, {thread.root_id_or_own for thread in threads.values()})

    def sight(actor: access.Actor, session: SessionBase, chat_id: str) -> Sight:
        user, visitor = _signed_in(sessions.get(session.session_key or "", ""))
        if isinstance(actor, access.Visitor):
            is_here = bool(actor.key) and visitor == actor.key
        else:
            is_here = user == str(actor.pk) and passwords.get(actor.pk) == actor.password
        return Sight(is_here, access.may(actor, "read", threads.get(chat_id), rights))

    return [sight(*view) for view in views]


class _RightsRead(access.Rights):
    """Read at once for many people and the roots that they look at."""

    def __init__(self, users: Collection[int], roots: Collection[int]) -> None:
        self._roles = {(user, tenant): role for user, tenant, role in _ROLES.rows(users)}
        self._shares = set(_SHARES.rows(roots, users))

    def role(self, actor: access.Actor, tenant_id: int) -> str | None:
        return self._roles.get((actor.pk, tenant_id)) if isinstance(actor, User) else None

    def is_shared(self, root: Thread, user: User) -> bool:
        return (root.pk, user.pk) in self._shares


@lru_cache(maxsize=4096)
def _signed_in(stored: str) -> tuple[str | None, str | None]:
    """The user's id and the visitor's key in a stored session, which hardly ever changes: to check its signature takes longer
    than all else that a look asks."""
    found = SessionStore().decode(stored)
    return found.get(SESSION_KEY), found.get(access.VISITOR_SESSION_KEY)
