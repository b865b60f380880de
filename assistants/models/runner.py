"""The processes that run turns, as each tells of itself with every heartbeat."""

from datetime import datetime

from django.db import models


class RunnerQuerySet(models.QuerySet["Runner"]):
    def alive(self, since: datetime) -> "RunnerQuerySet":
        """Those that were heard of since that moment."""
        return self.filter(beat__gte=since)


class Runner(models.Model):
    """One process that holds leases under this name: how many turns it runs, and how many it could."""

    holder = models.CharField(max_length=100, primary_key=True)
    beat = models.DateTimeField(db_index=True)
    running = models.PositiveIntegerField(default=0)
    places = models.PositiveIntegerField(default=0)

    objects = RunnerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.holder} ({self.running} of {self.places})"
