"""System checks: set-ups that must not start, and set-ups that will not do what was meant."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError, models

from assistants.errors import CodedError
from assistants.models import Assistant, Budget, Domain, Tenant
from assistants.setup.rules import assistant_problems, budget_problems, domain_problems, tenant_problems

# What crosses a border of rights stops the start; run time refuses it as well. The rest is only of no use.
FATAL = {
    "PUBLIC_DELEGATES": "E001",
    "DELEGATE_FOREIGN": "E002",
    "PROFILE_FOREIGN": "E003",
    "DOMAIN_FOREIGN": "E004",
    "SUPERVISOR_FOREIGN": "E005",
    "BUDGET_FOREIGN": "E006",
}
DOUBTFUL = {
    "TOOL_UNKNOWN": "W001",
    "DELEGATE_CYCLE": "W002",
    "DELEGATE_SELF": "W003",
    "DELEGATE_PUBLIC": "W004",
    "SUPERVISOR_OUTSIDE": "W005",
    "SUPERVISOR_MOVED": "W006",
    "STEPS_OUT_OF_RANGE": "W007",
    "LIMIT_OF_NOTHING": "W008",
    "BUDGET_TARGET": "W021",
    "BUDGET_EMPTY": "W022",
    "BUDGET_SOFT": "W023",
}


@register("assistants")
def check_setups(**_: Any) -> list[CheckMessage]:
    """Holds everything that was set up to the rules of the edit forms (T-03, journey 15): a script may have passed by them.

    Before the first migration there is nothing to hold.
    """
    try:
        found = [(problem, row) for row, problem in _problems() if problem.code in FATAL or problem.code in DOUBTFUL]
        return [_as_message(problem, row) for problem, row in found]
    except DatabaseError:
        return []


def _problems() -> Iterator[tuple[models.Model, CodedError]]:
    related = Assistant.objects.select_related("tenant", "profile", "domain").prefetch_related("delegates")
    for assistant in related.order_by("pk"):
        for problem in assistant_problems(assistant, delegates=assistant.delegates.all()):
            yield assistant, problem
    for domain in Domain.objects.select_related("tenant", "supervisor").order_by("pk"):
        for problem in domain_problems(domain):
            yield domain, problem
    for tenant in Tenant.objects.select_related("default_profile").order_by("pk"):
        for problem in tenant_problems(tenant):
            yield tenant, problem
    for budget in Budget.objects.select_related("assistant").order_by("pk"):
        for problem in budget_problems(budget):
            yield budget, problem


def _as_message(problem: CodedError, row: models.Model) -> CheckMessage:
    where = f"{row._meta.verbose_name} “{row}” (number {row.pk})"
    text = f"{where}: {problem.message}"
    if number := FATAL.get(problem.code):
        way = " If the server no longer starts, start it once with `manage.py serve --skip-checks`."
        return Error(text, hint=problem.fix + way, obj=None, id=f"assistants.{number}")
    return Warning(text, hint=problem.fix, obj=None, id=f"assistants.{DOUBTFUL[problem.code]}")
