"""A plan and its steps, with what became of each."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Plan(models.Model):
    """What a turn means to do: at the root for the whole turn, in a supervisor's sub-chat for its own domain (J-02).

    `version` grows with every change; `hash` names the steps of this version, and an approval holds for `approved_hash`
    alone (decision 5).
    """

    turn = models.OneToOneField("assistants.Turn", on_delete=models.CASCADE, related_name="plan")
    domain = models.ForeignKey("assistants.Domain", null=True, on_delete=models.SET_NULL, related_name="+")
    version = models.PositiveIntegerField(default=1)
    hash = models.CharField(max_length=64)
    approved_hash = models.CharField(max_length=64, blank=True)
    approved_steps = models.PositiveSmallIntegerField(default=0, help_text="So many steps, from the first, were approved.")
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    approved_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The person who changed this version; nobody: the assistant wrote it.",
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("plan"), _("plans")

    def __str__(self) -> str:
        return f"plan of turn {self.turn_id}, version {self.version}"

    @property
    def is_approved(self) -> bool:
        return bool(self.hash) and self.approved_hash == self.hash


class PlanStep(models.Model):
    """One step: who does it (nobody named: the planning assistant itself) and by what one sees that it is done.

    `call` wrote it, `delegation` works on it or has worked on it. A step that was skipped has the reason in `evidence`; without
    one it was left open when the turn ended (L5).
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        REPORTED = "reported"
        DONE = "done"
        INCOMPLETE = "incomplete"
        HANDED_BACK = "handed_back"
        FAILED = "failed"
        SKIPPED = "skipped"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveSmallIntegerField(help_text="1 to 12")
    description = models.TextField()
    specialist = models.ForeignKey("assistants.Assistant", null=True, on_delete=models.SET_NULL, related_name="+")
    domain = models.ForeignKey("assistants.Domain", null=True, on_delete=models.SET_NULL, related_name="+")
    check_text = models.TextField()
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PENDING)
    evidence = models.TextField(blank=True)
    call = models.ForeignKey("assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="plan_steps")
    delegation = models.ForeignKey("subchats.Delegation", null=True, on_delete=models.SET_NULL, related_name="steps")

    class Meta:
        verbose_name, verbose_name_plural = _("plan step"), _("plan steps")
        ordering = ["plan_id", "index"]
        constraints = [models.UniqueConstraint(fields=["plan", "index"], name="one_step_per_place")]

    def __str__(self) -> str:
        return f"{self.index}. {self.description[:60]}"

    @property
    def is_closed(self) -> bool:
        """Done, or skipped for a reason."""
        return self.status == self.Status.DONE or (self.status == self.Status.SKIPPED and bool(self.evidence))
