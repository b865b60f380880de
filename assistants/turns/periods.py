"""Budgets by day, week and month: for a team, a group, a person or an assistant (section 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Case, F, Q, QuerySet, Sum, When
from django.utils import timezone

from assistants import clock
from assistants.models import Budget, SpendEntry, Turn

WORDS = {Budget.Period.DAY: "daily", Budget.Period.WEEK: "weekly", Budget.Period.MONTH: "monthly"}


@dataclass(frozen=True)
class Account:
    """How a budget stands in its present period. `used` counts what calls under way have reserved; in tokens."""

    budget: Budget
    used: int
    ends: datetime

    @property
    def is_noticed(self) -> bool:
        """Whether its soft limit is reached."""
        return self.budget.soft is not None and self.used >= self.budget.soft

    @property
    def is_used_up(self) -> bool:
        """Whether its hard limit is reached."""
        return self.budget.hard is not None and self.used >= self.budget.hard

    @property
    def limit(self) -> int:
        """What it is measured against: the hard limit, else the soft one."""
        return self.budget.hard if self.budget.hard is not None else self.budget.soft or 0

    @property
    def note(self) -> str:
        """What a person whose turn pauses is told; until when stands with the turn, and is shown in their own time zone."""
        whose = {
            Budget.Scope.TENANT: "of the team",
            Budget.Scope.GROUP: "of your group",
            Budget.Scope.USER: "that you have",
            Budget.Scope.ASSISTANT: "of this assistant",
        }[Budget.Scope(self.budget.scope)]
        return (
            f"The {WORDS[Budget.Period(self.budget.period)]} budget {whose}, {self.limit:,} tokens, is used up. The work is"
            " kept, and goes on at once if an admin raises the budget."
        )


def accounts(budgets: Sequence[Budget] | QuerySet[Budget]) -> list[Account]:
    """How each of these budgets stands now; one query for each."""
    now = clock.now()
    return [Account(each, used_in(each, now), end_of(each.period, now)) for each in budgets]


def accounts_of(user_id: int, tenant_id: int) -> list[Account]:
    """What counts against whatever this member of the team asks, the assistants' own budgets among it."""
    found = budgets_of(tenant_id=tenant_id, user_id=user_id) | Budget.objects.filter(
        tenant=tenant_id, scope=Budget.Scope.ASSISTANT
    )
    return accounts(found.select_related("tenant", "group", "user", "assistant").order_by("pk"))


def budgets_of(*, tenant_id: int, user_id: int | None, assistant_id: int | None = None) -> QuerySet[Budget]:
    """The budgets that a call in this tenant counts against; without an assistant only the person's own, the groups' and
    the team's."""
    mine = Q(scope=Budget.Scope.TENANT)
    if user_id:
        mine |= Q(scope=Budget.Scope.USER, user=user_id) | Q(scope=Budget.Scope.GROUP, group__user=user_id)
    if assistant_id:
        mine |= Q(scope=Budget.Scope.ASSISTANT, assistant=assistant_id)
    # An own query for who is meant: a joined one can't be locked.
    meant = Budget.objects.filter(mine, tenant=tenant_id).order_by().values("pk")
    return Budget.objects.filter(pk__in=meant).order_by("pk")


def blocking(turn: Turn) -> Account | None:
    """The budget that lets no more model calls of this turn begin, if there is one: of several the one that ends last.

    Inside a transaction; the budgets stay locked, so that of many turns at once only one takes the last tokens (P15).
    """
    thread = turn.thread
    found = budgets_of(tenant_id=thread.tenant_id, user_id=thread.owner_id, assistant_id=thread.assistant_id)
    found = found.exclude(hard=None)
    if connection.features.has_select_for_update:
        found = found.select_for_update()
    used_up = [each for each in accounts(found) if each.is_used_up]
    return max(used_up, key=lambda each: each.ends, default=None)


def used_in(budget: Budget, now: datetime) -> int:
    """The tokens that count against the budget in the period of this moment."""
    counted = Case(When(settled=None, then=F("reserved")), default=F("tokens"))
    entries = SpendEntry.objects.filter(tenant=budget.tenant_id, created__gte=start_of(budget.period, now))
    match budget.scope:
        case Budget.Scope.USER:
            entries = entries.filter(user=budget.user_id)
        case Budget.Scope.GROUP:
            entries = entries.filter(user__groups=budget.group_id)
        case Budget.Scope.ASSISTANT:
            entries = entries.filter(assistant=budget.assistant_id)
    return entries.aggregate(sum=Sum(counted))["sum"] or 0


def start_of(period: str, now: datetime) -> datetime:
    """The first moment of the day, week or month, by the site's own time zone; weeks begin on Monday."""
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == Budget.Period.WEEK:
        today -= timedelta(days=today.weekday())
    elif period == Budget.Period.MONTH:
        today = today.replace(day=1)
    return today


def end_of(period: str, now: datetime) -> datetime:
    """The first moment after the period."""
    start = start_of(period, now)
    # Long enough to be in the next one, whatever the length of this: its beginning is what counts.
    beyond = {Budget.Period.DAY: 36, Budget.Period.WEEK: 8 * 24, Budget.Period.MONTH: 40 * 24}[Budget.Period(period)]
    return start_of(period, start + timedelta(hours=beyond))
