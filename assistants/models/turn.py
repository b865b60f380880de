"""One run of one assistant in one thread, and who holds it."""

from datetime import datetime

from django.db import models
from django.db.models import Q


class TurnQuerySet(models.QuerySet["Turn"]):
    def active(self) -> "TurnQuerySet":
        return self.filter(state__in=Turn.ACTIVE)

    def runnable(self, now: datetime) -> "TurnQuerySet":
        """Turns that nobody works on although they could go on."""
        free = Q(lease_until=None) | Q(lease_until__lt=now)
        going = Q(state__in=[Turn.State.THINKING, Turn.State.ACTING])
        rested = Q(state=Turn.State.PAUSED, wake_at__lte=now)
        return self.filter(free & (going | rested))


class Turn(models.Model):
    """A turn's state, lease and usage.

    Held by a lease with a fencing number (D4): every write of a runner compares `fence`, so a runner that lost its
    lease changes nothing. `attempt` counts how often a runner took it up.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        THINKING = "thinking"
        ACTING = "acting"
        WAITING = "waiting"
        PAUSED = "paused"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"

    class Joins(models.TextChoices):
        NOT = ""
        STEER = "steer"
        INTERRUPT = "interrupt"

    ACTIVE = (State.THINKING, State.ACTING, State.WAITING, State.PAUSED)
    FINAL = (State.DONE, State.FAILED, State.STOPPED)

    thread = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="turns")
    user_message = models.ForeignKey("assistants.Message", null=True, on_delete=models.SET_NULL, related_name="started_turns")
    state = models.CharField(max_length=10, choices=State.choices, default=State.THINKING)
    joins = models.CharField(
        max_length=10,
        choices=Joins.choices,
        blank=True,
        help_text="While it is queued: whether the running turn takes its message in, at its next step or at once.",
    )
    reason = models.CharField(max_length=60, blank=True, help_text="Why it ended or pauses, as a code.")
    note = models.TextField(blank=True, help_text="The same as a sentence for the person.")
    round = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=0)
    crashes = models.PositiveIntegerField(default=0, help_text="Runners that died in a row on this step.")
    failures = models.PositiveIntegerField(default=0, help_text="Failed model calls in a row.")
    holder = models.CharField(max_length=80, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    wake_at = models.DateTimeField(null=True)
    root = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="tree")
    unplanned_handovers = models.PositiveIntegerField(default=0, help_text="Delegations that no step of a plan foresaw (J-15).")
    token_cap = models.PositiveIntegerField(null=True, help_text="What it might use at most, as that stood when it ended.")
    extra_tokens = models.PositiveIntegerField(default=0, help_text="What a person added to this turn's token budget.")
    budget_notice = models.PositiveSmallIntegerField(default=0, help_text="The share of its budget, in per cent, last told of.")
    beat = models.DateTimeField(null=True, help_text="The last sign of life: a delta, a tool's start or its end.")
    assistant_version = models.PositiveIntegerField(default=0)
    profile_label = models.CharField(max_length=120, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    model_calls = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread"],
                condition=Q(state__in=["thinking", "acting", "waiting", "paused"]),
                name="one_active_turn_per_thread",
            )
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="turn_sweep")]

    def __str__(self) -> str:
        return f"turn {self.pk} ({self.state})"

    @property
    def is_active(self) -> bool:
        return self.state in self.ACTIVE

    @property
    def is_final(self) -> bool:
        return self.state in self.FINAL
