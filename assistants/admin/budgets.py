"""What teams, groups, people and assistants may use in a period, and what they have used, day by day."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Count, DecimalField, Q, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.errors import CodedError
from assistants.models import Budget, SpendEntry, User
from assistants.setup.rules import budget_problems
from assistants.turns.periods import accounts

from .scope import ReadOnly, ScopedAdmin, ScopedForm

SHOWN_DAYS = 31


class BudgetForm(ScopedForm):
    """Only the team's own people and their groups are on offer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Q(memberships__tenant=self.tenant)
        if "user" in self.fields:
            self.fields["user"].queryset = User.objects.filter(mine).distinct().order_by("username")
        if "group" in self.fields:
            self.fields["group"].queryset = Group.objects.filter(user__memberships__tenant=self.tenant).distinct()

    def problems(self) -> Iterable[CodedError]:
        return budget_problems(self.instance)


@admin.register(Budget)
class BudgetAdmin(ScopedAdmin):
    form = BudgetForm
    list_display = ("__str__", "whom", "soft", "hard", "used", "tenant")
    list_filter = ("scope", "period", ("tenant", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("tenant", "user", "group", "assistant")
    readonly_fields = ("used",)
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "scope", "user", "group", "assistant", "period"),
                "description": _(
                    "For the whole team leave user, group and assistant empty; else choose the one that is meant."
                ),
            },
        ),
        (_("Tokens"), {"fields": ("soft", "hard", "used")}),
    )

    @admin.display(description=_("for"))
    def whom(self, budget: Budget) -> str:
        return str(budget.user or budget.group or budget.assistant or budget.tenant)

    @admin.display(description=_("used in this period"))
    def used(self, budget: Budget) -> str:
        if budget.pk is None:
            return "–"
        account = accounts([budget])[0]
        state = gettext("used up") if account.is_used_up else gettext("notice given") if account.is_noticed else ""
        return f"{account.used:,}" + (f" ({state})" if state else "")


@admin.register(SpendEntry)
class SpendAdmin(ReadOnly, ScopedAdmin):
    """The ledger, to look at: one line for each model call, and the sums of the last days above them."""

    change_list_template = "admin/assistants/spendentry/change_list.html"
    list_display = ("created", "user", "assistant", "turn", "tokens", "cost", "reserved", "settled", "tenant")
    list_display_links = ("created",)
    list_filter = (
        ("tenant", admin.RelatedOnlyFieldListFilter),
        ("user", admin.RelatedOnlyFieldListFilter),
        ("assistant", admin.RelatedOnlyFieldListFilter),
        "created",
    )
    list_select_related = ("user", "assistant", "turn", "tenant")
    fields = (
        "created",
        "settled",
        "tenant",
        "user",
        "assistant",
        "turn",
        "root",
        "round",
        "attempt",
        "reserved",
        "tokens",
        "cost",
    )
    list_per_page = 50

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", None)
        if shown and "cl" in shown:
            days = shown["cl"].queryset.order_by().annotate(day=TruncDate("created")).values("day")
            money = Sum("cost", output_field=DecimalField(max_digits=12, decimal_places=6))
            shown["days"] = days.annotate(calls=Count("pk"), tokens=Sum("tokens"), cost=money).order_by("-day")[:SHOWN_DAYS]
        return response
