"""A research: the question, who was sent to look for it where, what they found, and what the answer rests on."""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _


def new_session() -> str:
    return secrets.token_hex(8)


class ResearchRun(models.Model):
    """One question of a person to a research assistant, word for word; it ends with results, or fails (A-06, A-07).

    `rounds` counts the dispatches that were launched, `rejections` those that were not. `session` names it in logs and in
    the ids of feedback, and says nothing about its content.
    """

    turn = models.OneToOneField("assistants.Turn", on_delete=models.CASCADE, related_name="research")
    session = models.CharField(max_length=32, unique=True, default=new_session)
    query = models.TextField()
    rounds = models.PositiveSmallIntegerField(default=0)
    rejections = models.PositiveIntegerField(default=0)
    answer = models.TextField(blank=True)
    warnings = models.JSONField(default=list)
    diagnostics = models.JSONField(default=list)
    discovery = models.JSONField(default=dict, help_text="What the local discovery said, and how often it was asked (A-35).")
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("research run"), _("research runs")

    def __str__(self) -> str:
        return f"research {self.session}"

    def diagnose(self, found: list[dict[str, str]]) -> None:
        """Keeps what went wrong or was missing, each thing once."""
        self.diagnostics += [each for each in found if each not in self.diagnostics]
        self.save(update_fields=["diagnostics"])


class ExplorerTask(models.Model):
    """What one explorer was told, as it stood when the dispatch was accepted; nothing later changes it (A-08)."""

    class State(models.TextChoices):
        RUNNING = "running"
        GROUNDED = "grounded"
        UNGROUNDED = "ungrounded"

    run = models.ForeignKey(ResearchRun, on_delete=models.CASCADE, related_name="tasks")
    call = models.ForeignKey("assistants.ToolCall", on_delete=models.CASCADE, related_name="explorer_tasks")
    position = models.PositiveSmallIntegerField(help_text="Its place among the leaves of the dispatch.")
    path = models.CharField(max_length=200, blank=True, help_text="Where it stood in the dispatch, such as .tasks[0].")
    query = models.TextField()
    method = models.CharField(max_length=120)
    variants = models.JSONField(default=list)
    text = models.TextField()
    root = models.ForeignKey("assistants.DocumentRoot", null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=12, choices=State.choices, default=State.RUNNING)
    faults = models.JSONField(default=list, help_text="What was wrong with its handoff: code and place.")

    class Meta:
        verbose_name, verbose_name_plural = _("explorer task"), _("explorer tasks")
        ordering = ["call_id", "position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_explorer_per_place")]

    def __str__(self) -> str:
        return f"{self.method} for {self.run}"


class Evidence(models.Model):
    """Words that stand in a document at the place named: they were looked up there before this row was written.

    `start` and `end` are offsets in characters of the document's text as it was then; `digest` is that text's.
    """

    run = models.ForeignKey(ResearchRun, on_delete=models.CASCADE, related_name="evidence")
    task = models.ForeignKey(ExplorerTask, null=True, on_delete=models.SET_NULL, related_name="evidence")
    stable_id = models.CharField(max_length=160)
    document = models.ForeignKey("assistants.Document", null=True, on_delete=models.SET_NULL, related_name="+")
    source = models.CharField(max_length=600, help_text="The document's name towards people and models.")
    method = models.CharField(max_length=120)
    excerpt = models.TextField()
    line = models.PositiveIntegerField(null=True)
    start = models.PositiveIntegerField(default=0)
    end = models.PositiveIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)
    locator = models.CharField(max_length=120, blank=True)
    relevance = models.CharField(max_length=10)
    temporal_status = models.CharField(max_length=12)
    temporal_date = models.CharField(max_length=40, blank=True)
    temporal_basis = models.TextField(blank=True)
    uncertainty = models.TextField(blank=True)
    retrieved_at = models.CharField(max_length=40)

    class Meta:
        verbose_name, verbose_name_plural = _("piece of evidence"), _("evidence")
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "stable_id"], name="evidence_once_per_run")]

    def __str__(self) -> str:
        return f"{self.source}, {self.locator or 'no place'}"


class CuratedResult(models.Model):
    """One numbered result of a research, with what it rests on. `feedback` is what a person said of it: 1, -1, or 0."""

    run = models.ForeignKey(ResearchRun, on_delete=models.CASCADE, related_name="results")
    number = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=300)
    summary = models.TextField()
    confidence = models.FloatField()
    source = models.CharField(max_length=600)
    method = models.CharField(max_length=120)
    content = models.TextField()
    evidence = models.ManyToManyField(Evidence, related_name="results")
    feedback = models.SmallIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("curated result"), _("curated results")
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="result_number_per_run")]

    def __str__(self) -> str:
        return f"{self.number}. {self.title}"

    @property
    def feedback_id(self) -> str:
        """The name under which feedback finds it again, also after a restart (A-39)."""
        return f"{self.run.session}:{self.number}"


class ManagedExplorer(models.Model):
    """A tenant's explorer, and what it looked like when this product made it or an admin accepted it (A-31)."""

    tenant = models.OneToOneField("assistants.Tenant", on_delete=models.CASCADE, related_name="managed_explorer")
    assistant = models.OneToOneField("assistants.Assistant", on_delete=models.CASCADE, related_name="+")
    version = models.PositiveSmallIntegerField()
    fingerprint = models.CharField(max_length=64)

    class Meta:
        verbose_name, verbose_name_plural = _("managed explorer"), _("managed explorers")

    def __str__(self) -> str:
        return f"explorer of {self.tenant}"
