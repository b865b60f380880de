"""What a research may look through besides the team's folders: granted by an admin, nothing by itself (A-35, A-36)."""

from django.db import models


class DatasourceGrant(models.Model):
    """What one assistant may search of one source. Without a tag nothing; `scopes` narrow it further, none is all of them."""

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="datasource_grants")
    assistant = models.ForeignKey("assistants.Assistant", on_delete=models.CASCADE, related_name="datasource_grants")
    source = models.CharField(max_length=60)
    tags = models.JSONField(default=list, blank=True)
    scopes = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["assistant", "source"], name="one_grant_per_source")]

    def __str__(self) -> str:
        return f"{self.source} for {self.assistant}"


class LocalDiscovery(models.Model):
    """A command on this server that a team's researches ask first. Only the site's superuser names it, as with folders."""

    tenant = models.OneToOneField("assistants.Tenant", on_delete=models.CASCADE, related_name="local_discovery")
    command = models.CharField(
        max_length=500, help_text="A program by its absolute path, and its arguments. No shell reads it."
    )
    enabled = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "local discoveries"

    def __str__(self) -> str:
        return f"local discovery of {self.tenant}"
