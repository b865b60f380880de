"""A tool call: opened once, settled once, by anybody."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .row import Row


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    def for_a_person(self) -> "ToolCallQuerySet":
        """Open calls that only a person can carry on: an outcome that nobody knows (F06), an approval asked for (D8)."""
        return self.filter(Q(needs_decision=True) | Q(approval__state="asked"), state=ToolCall.State.OPEN)

    def asked(self) -> "ToolCallQuerySet":
        """Open calls that wait for a person's approval, of their arguments or of what they prepared."""
        return self.filter(approval__state="asked", state=ToolCall.State.OPEN)


class ToolCall(Row):
    """One call that a model made, or the command line (then without a message).

    `arguments` is always valid JSON; `raw_arguments` is kept when it was not.

    `attempts` counts how often the tool's body was started, stored before it starts (D5). `needs_decision` is set
    when a tool that must not be repeated was cut off: only a person can settle it then. `pending` says that the body has
    done its part and the result comes from elsewhere, a sub-chat or a person: nothing is left to run.

    `guard` says what the guard found in the arguments or the result, and what it did: `refused`, `withheld`, `filtered`.
    Of the last two, `withheld` is what the tool had really given back; no model gets to read it (decision 11).

    `approval` is bound to the arguments by their hash. Its state is asked, then rejected, or approved and once the body
    was started used; `original` holds the arguments that a person changed.
    """

    class State(models.TextChoices):
        OPEN = "open"
        SETTLED = "settled"

    class Outcome(models.TextChoices):
        OK = "ok", _("ok")
        ERROR = "error", _("error")
        REFUSED = "refused", _("refused")
        STOPPED = "stopped", _("stopped")
        UNKNOWN = "unknown", _("unknown")

    class Effect(models.TextChoices):
        PURE = "pure", _("pure")
        IDEMPOTENT = "idempotent", _("idempotent")
        ONCE = "once", _("once")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey("assistants.Turn", on_delete=models.CASCADE, related_name="calls")
    message = models.ForeignKey("assistants.Message", null=True, on_delete=models.CASCADE, related_name="calls")
    round = models.PositiveIntegerField()
    index = models.PositiveIntegerField()
    provider_id = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    raw_arguments = models.TextField(blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, blank=True)
    result = models.TextField(blank=True, help_text="What the model is shown.")
    code = models.CharField(max_length=60, blank=True, help_text="The refusal's or error's code.")
    guard = models.JSONField(null=True, help_text="What the guard found: action, family, pattern, where, encoding, excerpt.")
    withheld = models.TextField(blank=True, help_text="The result before the guard, for the person alone.")
    answer = models.JSONField(null=True, help_text="A person's answer to a question: chosen, text, by, at.")
    approval = models.JSONField(
        null=True, help_text="A person's leave to run it: why it is asked, hash of the arguments, decision, words, by, at."
    )
    effect = models.CharField(max_length=10, choices=Effect.choices, default=Effect.PURE)
    attempts = models.PositiveIntegerField(default=0)
    needs_decision = models.BooleanField(default=False)
    pending = models.BooleanField(default=False, db_default=False)
    started = models.DateTimeField(null=True)
    settled = models.DateTimeField(null=True)
    settled_by = models.CharField(max_length=80, blank=True)

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("tool call"), _("tool calls")
        constraints = [
            models.UniqueConstraint(fields=["turn", "round", "index"], name="one_call_per_place"),
        ]
        ordering = ["turn_id", "round", "index"]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def is_asked(self) -> bool:
        """Whether it waits for a person's approval."""
        return self.is_open and (self.approval or {}).get("state") == "asked"
