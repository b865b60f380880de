"""What a team's feedback has taught about its sources: single signals, and what is left of old ones."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ResearchSignal(models.Model):
    """One word on one piece of evidence. `explicit` came from a button; the others are read out of what people do."""

    class Kind(models.TextChoices):
        FEEDBACK = "feedback"
        FOLLOW_UP = "follow_up"
        RETRY = "retry"

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="research_signals")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    result = models.ForeignKey("subchats.CuratedResult", null=True, on_delete=models.SET_NULL, related_name="signals")
    stable_id = models.CharField(max_length=160)
    source = models.CharField(max_length=600)
    method = models.CharField(max_length=120)
    weight = models.FloatField()
    explicit = models.BooleanField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("research signal"), _("research signals")
        ordering = ["pk"]
        indexes = [models.Index(fields=["tenant", "source"], name="signals_by_source")]

    def __str__(self) -> str:
        return f"{self.weight:+g} for {self.source}"


class ResearchInsight(models.Model):
    """What a batch of old signals said of one source by one method."""

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="research_insights")
    source = models.CharField(max_length=600)
    method = models.CharField(max_length=120)
    score = models.FloatField()
    signals = models.PositiveIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("research insight"), _("research insights")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.score:+g} for {self.source}"
