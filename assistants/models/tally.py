"""How often somebody did something within a span of time, counted over all processes."""

from django.db import models


class Tally(models.Model):
    """One count; `key` is a digest of who does what, so that no name stands here."""

    key = models.CharField(max_length=64, primary_key=True)
    times = models.PositiveIntegerField(default=0)
    ends = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"{self.times} until {self.ends:%H:%M:%S}"
