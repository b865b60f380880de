"""What a thread's page has to learn, numbered without holes."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from .row import Row


class TurnEvent(Row):
    """One numbered event of a thread (1..N). The payload is small: ids, never content."""

    thread = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="events")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=30)
    payload = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("turn event"), _("turn events")
        constraints = [models.UniqueConstraint(fields=["thread", "number"], name="event_number_per_thread")]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"
