"""Removes a person with everything of theirs; what the team has to keep stays without them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from assistants.access import audit
from assistants.conversations.deletion import delete_thread
from assistants.errors import CodedError
from assistants.models import Membership, SpendEntry, Thread, User
from assistants.signals import person_leaving
from assistants.turns.periods import start_of

from .belongings import belongings_of
from .index import forget_deleted_words
from .names import forget_names


@dataclass(frozen=True)
class Removal:
    """How many rows of each model go with a person, and how many stay without naming them."""

    removed: dict[str, int]
    kept: dict[str, int]


def plan_removal(user: User) -> Removal:
    """What `remove_person` would do; changes nothing. Raises what that raises."""
    check_removable(user, by=None)
    found = belongings_of(user)
    removed = {label: len(rows) for label, rows in sorted(found.theirs.items())}
    return Removal(removed, {label: len(rows) for label, rows in sorted(found.named.items())})


def check_removable(user: User, *, by: User | None) -> None:
    """Raises `REMOVES_ONESELF`, `LAST_ADMINISTRATOR`."""
    if by is not None and by.pk == user.pk:
        raise CodedError(
            code="REMOVES_ONESELF", message="You can't remove yourself.", fix="Ask another administrator.", correctable=False
        )
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        fix = "Make somebody else a superuser first."
        raise CodedError(code="LAST_ADMINISTRATOR", message="Nobody could look after the site any more.", fix=fix)


def remove_person(user: User, *, by: User | None, name: str) -> Removal:
    """Removes the account with its conversations, shares, drafts, feedback, mails in the outbox and sessions.

    Stays, without the person: the audit log, copies of conversations that others made, versions of assistants, and what was
    spent, as one sum per day and assistant. `name` stands in what is stopped by it. Raises what `check_removable` raises.
    """
    check_removable(user, by=by)
    removal = plan_removal(user)
    # First of all nobody may work in their name any more: open pages close, and no turn begins (S08).
    User.objects.filter(pk=user.pk).update(is_active=False, password="!")
    _end_sessions(user)
    person_leaving.send(User, user=user)
    for thread in Thread.objects.roots().filter(owner=user).order_by("pk"):
        delete_thread(thread, by=by, name=name)
    with transaction.atomic():
        tenants: list[int | None] = list(Membership.objects.filter(user=user).values_list("tenant_id", flat=True))
        _sum_up_spending(user)
        forget_names(user)
        number, address = user.pk, user.email
        user.delete()
        for tenant_id in tenants or [None]:
            audit("person_removed", tenant_id=tenant_id, user=by, target=f"user {number}", rows=sum(removal.removed.values()))
        transaction.on_commit(lambda: _remove_mails(address), robust=True)
        transaction.on_commit(forget_deleted_words, robust=True)
    return removal


def _end_sessions(user: User) -> None:
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()


def _sum_up_spending(user: User) -> None:
    """Budgets of the team and of its assistants go on as before; nobody can tell any more who asked how often and when."""
    entries = SpendEntry.objects.filter(user=user)
    sums: dict[tuple[int, int | None, datetime], list[SpendEntry]] = defaultdict(list)
    for entry in entries:
        sums[entry.tenant_id, entry.assistant_id, start_of("day", entry.created)].append(entry)
    entries.delete()
    SpendEntry.objects.bulk_create(_sum(*key, rows) for key, rows in sums.items())


def _sum(tenant_id: int, assistant_id: int | None, day: datetime, rows: Iterable[SpendEntry]) -> SpendEntry:
    return SpendEntry(
        tenant_id=tenant_id,
        assistant_id=assistant_id,
        created=day,
        settled=day,
        round=0,
        attempt=0,
        reserved=0,
        tokens=sum(row.tokens for row in rows),
        cost=sum((row.cost for row in rows), Decimal()),
    )


def _remove_mails(address: str) -> None:
    """Mails that were written into files since no server is set up: those to the person and those in their name."""
    folder = Path(settings.EMAIL_FILE_PATH)
    if not address or not folder.is_dir():
        return
    for file in folder.glob("*.log"):
        if address.lower() in file.read_text(errors="replace").lower():
            file.unlink()
