"""Deletes conversations that nobody has touched for as long as their team keeps them."""

import logging
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from assistants import clock
from assistants.conversations.deletion import delete_thread
from assistants.models import Message, Tenant, Thread, Turn

log = logging.getLogger(__name__)
# Seconds between two looks of the sweeper, and how many it deletes at a look: others wait for the database.
PAUSE, AT_ONCE = 600.0, 20
_next_look = 0.0


def untouched(tenant: Tenant, days: int) -> QuerySet[Thread]:
    """The conversations of the tenant in which nothing was written or done for so many days, sub-chats included.

    One at work is not among them; one that has waited for a person for so long is.
    """
    limit = clock.now() - timedelta(days=days)
    own = Q(thread=OuterRef("pk")) | Q(thread__root=OuterRef("pk"))
    written = Message.objects.filter(own, created__gte=limit)
    working = Q(state__in=[Turn.State.THINKING, Turn.State.ACTING]) | Q(created__gte=limit) | Q(finished__gte=limit)
    found = Thread.objects.roots().filter(tenant=tenant, created__lt=limit, updated__lt=limit)
    return found.exclude(Exists(written)).exclude(Exists(Turn.objects.filter(own).filter(working))).order_by("pk")


def forget_untouched(tenant: Tenant, days: int, *, at_most: int | None = None) -> int:
    """Deletes them for good; returns how many. Each leaves a line in the audit log, by its number alone."""
    threads = list(untouched(tenant, days)[:at_most])
    for thread in threads:
        delete_thread(thread, by=None, name="the platform")
    if threads:
        log.info("deleted %s conversations of tenant %s that were untouched for %s days", len(threads), tenant.pk, days)
    return len(threads)


def forget_due(**_: Any) -> None:
    """A round of the sweeper: a few of each team that set how long it keeps them, every ten minutes at most."""
    global _next_look
    if clock.monotonic() < _next_look:
        return
    _next_look = clock.monotonic() + PAUSE
    for tenant in Tenant.objects.exclude(keep_days=None).order_by("pk"):
        forget_untouched(tenant, tenant.keep_days or 0, at_most=AT_ONCE)
