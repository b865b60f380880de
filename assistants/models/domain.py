"""A slice of a tenant's work."""

from django.db import models


class Domain(models.Model):
    """Assistants of one domain stand together; a supervisor leads them."""

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="domains")
    slug = models.SlugField()
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    supervisor = models.ForeignKey(
        "assistants.Assistant", null=True, blank=True, on_delete=models.SET_NULL, related_name="supervised_domains"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "slug"], name="domain_slug_per_tenant")]

    def __str__(self) -> str:
        return self.name
