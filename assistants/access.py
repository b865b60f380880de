"""Who may do what: the one answer for pages, sockets, workers and resumed turns (D7). What is invisible is a 404."""

import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import Q, QuerySet
from django.http import Http404

from assistants.documents.roots import roots_open_to
from assistants.errors import NotAllowed
from assistants.models import (
    Assistant,
    AuditEntry,
    DocumentRoot,
    Membership,
    Message,
    Role,
    Tenant,
    Thread,
    ThreadShare,
    ToolCall,
    Turn,
    User,
)
from assistants.models.prepared import Prepared
from assistants.models.tenant import managed_by


@dataclass(frozen=True)
class Visitor:
    """Somebody who chats with a public assistant without signing in, known by a key in their session."""

    key: str


class Rights:
    """What the rights on a thread depend on, asked afresh each time."""

    def role(self, actor: "Actor", tenant_id: int) -> str | None:
        """See `role_in`."""
        return role_in(actor, tenant_id)

    def is_shared(self, root: Thread, user: User) -> bool:
        """Whether the conversation is shared with the user."""
        return _SHARES.exists(root.pk, user.pk)


class RightsAtOnce(Rights):
    """The same, but the role is asked once: for what is done in one go, such as one drawing."""

    def __init__(self) -> None:
        self._roles: dict[tuple[Any, int], str | None] = {}

    def role(self, actor: "Actor", tenant_id: int) -> str | None:
        """See `role_in`."""
        asked = (actor.pk if isinstance(actor, User) else actor, tenant_id)
        if asked not in self._roles:
            self._roles[asked] = role_in(actor, tenant_id)
        return self._roles[asked]


Actor = User | Visitor
# What every page, look and step asks first.
_THREADS = Prepared(
    lambda chat_id: Thread.objects.filter(chat_id=chat_id).select_related(
        "tenant", "assistant", "root", "root__assistant", "parent", "owner"
    )
)
_ROLES = Prepared(
    lambda user, tenant: Membership.objects.filter(user=user, tenant=tenant, user__is_active=True).values_list(
        "role", flat=True
    )
)
_SHARES = Prepared(lambda root, user: ThreadShare.objects.filter(thread=root, user=user))
AFRESH = Rights()
VISITOR_SESSION_KEY = "visitor"


def actor_of(user: AbstractBaseUser | AnonymousUser, session: SessionBase) -> Actor:
    """Who asks: the signed-in user, else the visitor of this session (with an empty key if there was none yet)."""
    if isinstance(user, User):
        return user
    return Visitor(session.get(VISITOR_SESSION_KEY, ""))


def visitor_of(session: SessionBase) -> Visitor:
    """The visitor of this session, who gets a key with their first message."""
    if VISITOR_SESSION_KEY not in session:
        # A session id that somebody else may have planted here must not lead to the conversation (S15).
        session.cycle_key()
        session[VISITOR_SESSION_KEY] = secrets.token_hex(16)
    return Visitor(session[VISITOR_SESSION_KEY])


def may(actor: Actor, action: str, target: object, rights: Rights = AFRESH) -> bool:
    """Whether the actor may `read`, `write`, `share`, `use` or `manage` the object. Anything unknown is refused.

    A thread and all in it: its root's owner reads, writes and shares, whoever it is shared with reads, and only as
    long as they belong to the tenant (A2). An assistant: members use it, visitors a public one. A tenant: its admins
    and the site's superuser manage it, which opens nobody's conversations.
    """
    match target:
        case Thread():
            return _may_thread(actor, action, target, rights)
        case Turn() | Message():
            return _may_thread(actor, action, target.thread, rights)
        case ToolCall():
            return _may_thread(actor, action, target.turn.thread, rights)
        case Assistant():
            return action == "use" and _may_use(actor, target)
        case DocumentRoot():
            reader = actor if isinstance(actor, User) and actor.pk else None
            return action == "read" and roots_open_to(reader).filter(pk=target.pk).exists()
        case Tenant():
            if action == "manage":
                return tenants_managed_by(actor).filter(pk=target.pk).exists()
            return action == "read" and role_in(actor, target.pk) is not None
    return False


def role_in(actor: Actor, tenant_id: int) -> str | None:
    """The actor's role in the tenant, asked afresh each time; None for strangers, visitors and switched-off users."""
    if not isinstance(actor, User) or not actor.pk:
        return None
    return _ROLES.first(actor.pk, tenant_id)


def tenants_managed_by(actor: Actor) -> QuerySet[Tenant]:
    """The tenants that the actor sets up: all of them for the site's superuser, else where they are admin; asked afresh."""
    if not isinstance(actor, User) or not actor.pk:
        return Tenant.objects.none()
    return managed_by(actor.pk)


def _may_thread(actor: Actor, action: str, thread: Thread, rights: Rights = AFRESH) -> bool:
    root = thread.root or thread
    if isinstance(actor, Visitor):
        own = bool(actor.key) and root.visitor_key == actor.key and root.owner_id is None
        return own and action in ("read", "write") and bool(root.assistant and root.assistant.public)
    role = rights.role(actor, root.tenant_id)
    if role is None:
        return False
    if action in ("write", "share"):
        return root.owner_id == actor.pk and role != Role.READER
    return action == "read" and (root.owner_id == actor.pk or rights.is_shared(root, actor))


def owns(actor: Actor, thread: Thread) -> bool:
    """Whether the conversation is the actor's own, as opposed to shared with them; says nothing about rights."""
    root = thread.root or thread
    if isinstance(actor, Visitor):
        return bool(actor.key) and root.owner_id is None and root.visitor_key == actor.key
    return root.owner_id == actor.pk


def _may_use(actor: Actor, assistant: Assistant) -> bool:
    if not assistant.enabled or assistant.internal:
        return False
    if isinstance(actor, Visitor):
        return assistant.public
    return role_in(actor, assistant.tenant_id) in (Role.ADMIN, Role.MEMBER)


def may_run(turn: Turn) -> bool:
    """Whether the person in whose name the turn works may still have it work: asked before each step, by every
    runner and after every pause (S08)."""
    root = turn.thread.root or turn.thread
    return may(root.owner if root.owner else Visitor(root.visitor_key), "write", root)


def threads_for(actor: Actor) -> QuerySet[Thread]:
    """Every thread that the actor may read, sub-chats included."""
    if isinstance(actor, Visitor):
        if not actor.key:
            return Thread.objects.none()
        mine = Q(visitor_key=actor.key, owner=None) | Q(root__visitor_key=actor.key, root__owner=None)
        return Thread.objects.filter(mine)
    return readable_by(actor.pk)


def readable_by(user_id: Any) -> QuerySet[Thread]:
    """The same for a user, by their id."""
    tenants = Membership.objects.filter(user=user_id, user__is_active=True).values("tenant_id")
    # As subqueries: joined, a thread would come once for each that it is shared with, and all would have to be sorted.
    shared = ThreadShare.objects.filter(user=user_id).values("thread_id")
    tops = Q(root=None) & (Q(owner=user_id) | Q(pk__in=shared))
    return Thread.objects.filter(tops | Q(root__owner=user_id) | Q(root__in=shared), tenant_id__in=tenants)


def assistants_for(actor: Actor, tenant_id: int | None = None) -> QuerySet[Assistant]:
    """The assistants the actor may start a conversation with."""
    if isinstance(actor, Visitor):
        return Assistant.objects.for_visitors()
    found = usable_by(actor.pk)
    return found.filter(tenant_id=tenant_id) if tenant_id else found


def usable_by(user_id: Any) -> QuerySet[Assistant]:
    """The same for a user, by their id, in every team."""
    tenants = Membership.objects.filter(user_id=user_id, user__is_active=True).exclude(role=Role.READER)
    return Assistant.objects.enabled().filter(tenant_id__in=tenants.values("tenant_id"), internal=False)


def get_thread(actor: Actor, chat_id: str, action: str = "read", rights: Rights = AFRESH) -> Thread:
    """The thread, if the actor may. Raises Http404 when it is invisible to them, `NOT_ALLOWED` when they may only read."""
    thread = _THREADS.first(chat_id)
    # Whoever may do anything with it may read it as well.
    if thread is not None and may(actor, action, thread, rights):
        return thread
    if thread is None or action == "read" or not may(actor, "read", thread, rights):
        raise Http404("No such conversation.")
    raise not_allowed()


def get_turn(actor: Actor, turn_id: int, action: str = "write") -> Turn:
    """The turn, by the rights on its thread."""
    turn = Turn.objects.select_related("thread").filter(pk=turn_id).first()
    if turn is None:
        raise Http404("No such turn.")
    get_thread(actor, turn.thread.chat_id, action)
    return turn


def get_call(actor: Actor, call_id: UUID | str, action: str = "write") -> ToolCall:
    """The tool call, by the rights on its thread."""
    call = ToolCall.objects.select_related("turn__thread", "message").filter(pk=call_id).first()
    if call is None:
        raise Http404("No such call.")
    get_thread(actor, call.turn.thread.chat_id, action)
    return call


def get_message(actor: Actor, message_id: UUID | str, action: str = "write") -> Message:
    """The message, by the rights on its thread."""
    message = Message.objects.select_related("thread").filter(pk=message_id).first()
    if message is None:
        raise Http404("No such message.")
    get_thread(actor, message.thread.chat_id, action)
    return message


def get_assistant(actor: Actor, assistant_id: int | str) -> Assistant:
    """The assistant, if the actor may use it; else Http404."""
    assistant = Assistant.objects.select_related("tenant").filter(pk=assistant_id).first()
    if assistant is None or not may(actor, "use", assistant):
        raise Http404("No such assistant.")
    return assistant


def not_allowed() -> NotAllowed:
    return NotAllowed(
        code="NOT_ALLOWED",
        message="You may read this conversation but not change it.",
        fix="Ask its owner, or start a conversation of your own.",
        correctable=False,
    )


def audit(action: str, *, tenant_id: int | None, user: Actor | None, target: str = "", **detail: object) -> None:
    """Notes who changed or was refused what; ids and codes only, never content."""
    AuditEntry.objects.create(
        tenant_id=tenant_id,
        user=user if isinstance(user, User) else None,
        action=action,
        target=target[:200],
        detail=detail,
    )
