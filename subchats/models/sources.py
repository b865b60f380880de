"""What a research may look through besides the team's folders: granted by an admin, nothing by itself (A-35, A-36)."""

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class DatasourceGrant(models.Model):
    """What one assistant may search of one source. Without a tag nothing; `scopes` narrow it further, none is all of them."""

    tenant = models.ForeignKey(
        "assistants.Tenant", on_delete=models.CASCADE, related_name="datasource_grants", verbose_name=_("tenant")
    )
    assistant = models.ForeignKey(
        "assistants.Assistant", on_delete=models.CASCADE, related_name="datasource_grants", verbose_name=_("assistant")
    )
    source = models.CharField(_("source"), max_length=60)
    tags = models.JSONField(_("tags"), default=list, blank=True)
    scopes = models.JSONField(_("scopes"), default=list, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("datasource grant"), _("datasource grants")
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["assistant", "source"], name="one_grant_per_source")]

    def __str__(self) -> str:
        return gettext("%(source)s for %(assistant)s") % {"source": self.source, "assistant": self.assistant}


class LocalDiscovery(models.Model):
    """A command on this server that a team's researches ask first. Only the site's superuser names it, as with folders."""

    tenant = models.OneToOneField(
        "assistants.Tenant", on_delete=models.CASCADE, related_name="local_discovery", verbose_name=_("tenant")
    )
    command = models.CharField(
        _("command"), max_length=500, help_text=_("A program by its absolute path, and its arguments. No shell reads it.")
    )
    enabled = models.BooleanField(_("enabled"), default=False)

    class Meta:
        verbose_name, verbose_name_plural = _("local discovery"), _("local discoveries")

    def __str__(self) -> str:
        return gettext("local discovery of %(tenant)s") % {"tenant": self.tenant}
