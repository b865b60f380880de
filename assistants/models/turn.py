"""One run of one assistant in one thread, and who holds it."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.llm.detect import BUILTIN

from .row import Row


class TurnQuerySet(models.QuerySet["Turn"]):
    def active(self) -> "TurnQuerySet":
        return self.filter(state__in=Turn.ACTIVE)

    def runnable(self, now: datetime) -> "TurnQuerySet":
        """Turns that nobody works on although they could go on."""
        free = Q(lease_until=None) | Q(lease_until__lt=now)
        going = Q(state__in=[Turn.State.THINKING, Turn.State.ACTING])
        rested = Q(state=Turn.State.PAUSED, wake_at__lte=now)
        return self.filter(free & (going | rested))


# Why a sub-chat's turn is stopped with its caller's, or what it asks withdrawn.
PARENT_ENDED = "parent_ended"
# How a turn ended that has done what it could, by its reason.
ENDINGS = {"question": "asking", "hand_back": "handed_back", PARENT_ENDED: "stopped"}


class Turn(Row):
    """A turn's state, lease and usage.

    Held by a lease with a fencing number (D4): every write of a runner compares `fence`, so a runner that lost its
    lease changes nothing. `attempt` counts how often a runner took it up.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        THINKING = "thinking", _("thinking")
        ACTING = "acting", _("acting")
        WAITING = "waiting", _("waiting")
        PAUSED = "paused", _("paused")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        STOPPED = "stopped", _("stopped")

    class Joins(models.TextChoices):
        NOT = "", _("after it")
        STEER = "steer", _("at its next step")
        INTERRUPT = "interrupt", _("at once")

    ACTIVE = (State.THINKING, State.ACTING, State.WAITING, State.PAUSED)
    FINAL = (State.DONE, State.FAILED, State.STOPPED)

    thread = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="turns", verbose_name=_("thread"))
    user_message = models.ForeignKey(
        "assistants.Message", null=True, on_delete=models.SET_NULL, related_name="started_turns", verbose_name=_("user message")
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.THINKING)
    joins = models.CharField(
        _("joins"),
        max_length=10,
        choices=Joins.choices,
        blank=True,
        help_text=_("While it is queued: whether the running turn takes its message in, at its next step or at once."),
    )
    reason = models.CharField(_("reason"), max_length=60, blank=True, help_text=_("Why it ended or pauses, as a code."))
    note = models.TextField(_("note"), blank=True, help_text=_("The same as a sentence for the person."))
    round = models.PositiveIntegerField(_("round"), default=0)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    crashes = models.PositiveIntegerField(_("crashes"), default=0, help_text=_("Runners that died in a row on this step."))
    failures = models.PositiveIntegerField(_("failures"), default=0, help_text=_("Failed model calls in a row."))
    holder = models.CharField(_("holder"), max_length=80, blank=True)
    fence = models.PositiveIntegerField(_("fence"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True)
    wake_at = models.DateTimeField(_("wake at"), null=True)
    root = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="tree", verbose_name=_("root"))
    unplanned_handovers = models.PositiveIntegerField(
        _("unplanned handovers"), default=0, help_text=_("Delegations that no step of a plan foresaw (J-15).")
    )
    token_cap = models.PositiveIntegerField(
        _("token cap"), null=True, help_text=_("What it might use at most, as that stood when it ended.")
    )
    extra_tokens = models.PositiveIntegerField(
        _("extra tokens"), default=0, help_text=_("What a person added to this turn's token budget.")
    )
    budget_notice = models.PositiveSmallIntegerField(
        _("budget notice"), default=0, help_text=_("The share of its budget, in per cent, last told of.")
    )
    beat = models.DateTimeField(_("beat"), null=True, help_text=_("The last sign of life: a delta, a tool's start or its end."))
    unattended = models.JSONField(
        _("unattended"), null=True, help_text=_("From when to when nobody ran it although it could go on.")
    )
    assistant_version = models.PositiveIntegerField(_("assistant version"), default=0)
    profile_label = models.CharField(_("profile label"), max_length=120, blank=True)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    prompt_tokens = models.PositiveIntegerField(
        _("prompt tokens"), default=0, help_text=_("What its newest model call was sent.")
    )
    context_window = models.PositiveIntegerField(
        _("context window"), default=0, help_text=_("What that model can read at once, in tokens; 0 where that is not known.")
    )
    model_calls = models.PositiveIntegerField(_("model calls"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=12, decimal_places=6, default=0)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True)
    finished = models.DateTimeField(_("finished"), null=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("turn"), _("turns")
        constraints = [
            models.UniqueConstraint(
                fields=["thread"],
                condition=Q(state__in=["thinking", "acting", "waiting", "paused"]),
                name="one_active_turn_per_thread",
            )
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="turn_sweep")]

    def __str__(self) -> str:
        return gettext("turn %(number)s (%(state)s)") % {"number": self.pk, "state": self.get_state_display()}

    @property
    def model_name(self) -> str:
        """What answered: the name that a profile was given, or ours for the built-in engine in the reader's language."""
        return gettext(self.profile_label) if self.profile_label == BUILTIN.label else self.profile_label

    @property
    def ending(self) -> str:
        """Its state; of one that is done `asking`, `handed_back` or `stopped` where it ended so."""
        return ENDINGS.get(self.reason, self.state) if self.state == self.State.DONE else self.state

    @property
    def is_active(self) -> bool:
        return self.state in self.ACTIVE

    @property
    def is_final(self) -> bool:
        return self.state in self.FINAL
