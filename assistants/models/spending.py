"""What model calls cost: the one ledger over a tree of turns, and the budgets it is held against."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .row import Row


class SpendEntry(Row):
    """One model call of a turn, on the account of the turn at the top of its tree.

    `reserved` is what the call may use at most, written before it starts; `tokens` and `cost` are what it did use, written
    when it ended; until then `tokens` is the guessed size of what it was asked, all that is sure to be paid. An open entry
    counts with what it reserved, so that two calls can't both take the last tokens (P15).
    """

    # What was used stays used: a conversation that is deleted gives nothing back to a budget.
    root = models.ForeignKey(
        "assistants.Turn", null=True, on_delete=models.SET_NULL, related_name="spending", verbose_name=_("root")
    )
    turn = models.ForeignKey(
        "assistants.Turn", null=True, on_delete=models.SET_NULL, related_name="spend_entries", verbose_name=_("turn")
    )
    round = models.PositiveIntegerField(_("round"))
    attempt = models.PositiveIntegerField(_("attempt"))
    reserved = models.PositiveIntegerField(_("reserved"))
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=12, decimal_places=6, default=0)
    settled = models.DateTimeField(_("settled"), null=True)
    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", verbose_name=_("user")
    )
    assistant = models.ForeignKey(
        "assistants.Assistant", null=True, on_delete=models.SET_NULL, related_name="+", verbose_name=_("assistant")
    )
    created = models.DateTimeField(_("created"), db_index=True)

    class Meta:
        verbose_name, verbose_name_plural = _("spend entry"), _("spend entries")
        indexes = [models.Index(fields=["tenant", "created"], name="spend_by_tenant")]

    def __str__(self) -> str:
        numbers = {"tokens": self.tokens or self.reserved, "number": self.turn_id}
        return gettext("%(tokens)s tokens of turn %(number)s") % numbers


PER = {"day": _("per day"), "week": _("per week"), "month": _("per month")}


class Budget(models.Model):
    """What a tenant, a group, a user or an assistant may use in a day, a week or a month.

    Reaching `soft` gives a notice, reaching `hard` pauses turns until there is more or the period is over.
    """

    class Scope(models.TextChoices):
        TENANT = "tenant", _("The whole team")
        GROUP = "group", _("A group of users, together")
        USER = "user", _("One user")
        ASSISTANT = "assistant", _("One assistant")

    class Period(models.TextChoices):
        DAY = "day", _("Day")
        WEEK = "week", _("Week")
        MONTH = "month", _("Month")

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="budgets", verbose_name=_("tenant"))
    scope = models.CharField(_("scope"), max_length=10, choices=Scope.choices, default=Scope.TENANT)
    group = models.ForeignKey(
        "auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="+", verbose_name=_("group")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    assistant = models.ForeignKey(
        "assistants.Assistant", null=True, blank=True, on_delete=models.CASCADE, related_name="+", verbose_name=_("assistant")
    )
    period = models.CharField(_("period"), max_length=8, choices=Period.choices, default=Period.MONTH)
    soft = models.PositiveBigIntegerField(
        _("soft"), null=True, blank=True, help_text=_("Tokens. From here on a notice is shown.")
    )
    hard = models.PositiveBigIntegerField(
        _("hard"), null=True, blank=True, help_text=_("Tokens. From here on turns pause, with their work kept.")
    )

    class Meta:
        verbose_name, verbose_name_plural = _("budget"), _("budgets")

    def __str__(self) -> str:
        return f"{self.get_scope_display()}, {PER[self.period]}"
