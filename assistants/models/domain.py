"""A slice of a tenant's work."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Domain(models.Model):
    """Assistants of one domain stand together; a supervisor leads them."""

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="domains", verbose_name=_("tenant"))
    slug = models.SlugField(_("slug"))
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    supervisor = models.ForeignKey(
        "assistants.Assistant",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="supervised_domains",
        verbose_name=_("supervisor"),
    )

    class Meta:
        verbose_name, verbose_name_plural = _("domain"), _("domains")
        constraints = [models.UniqueConstraint(fields=["tenant", "slug"], name="domain_slug_per_tenant")]

    def __str__(self) -> str:
        return self.name
