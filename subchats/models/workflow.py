"""A tenant's own workflows, and what was said about the steps of any workflow in a conversation."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Workflow(models.Model):
    """A workflow that a tenant's admin has written; those of the product itself are catalogued in code (J-32).

    `nodes` is a list of {id, title, owner, operations, produces, requires, hazard, note}, validated like those in code.
    """

    tenant = models.ForeignKey(
        "assistants.Tenant", on_delete=models.CASCADE, related_name="workflows", verbose_name=_("tenant")
    )
    slug = models.SlugField(_("slug"), max_length=80)
    title = models.CharField(_("title"), max_length=160)
    definition = models.TextField(_("definition"), help_text=_("What it is for, in words that a person would use."))
    exemplars = models.JSONField(_("exemplars"), default=list, help_text=_("Requests that call for it."))
    nodes = models.JSONField(_("nodes"), default=list)
    enabled = models.BooleanField(_("enabled"), default=True)

    class Meta:
        verbose_name, verbose_name_plural = _("workflow"), _("workflows")
        constraints = [models.UniqueConstraint(fields=["tenant", "slug"], name="workflow_slug_per_tenant")]
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class WorkflowRecord(models.Model):
    """Somebody says that a step is done, or that it is not; the newest word counts, above what was seen (J-37)."""

    root = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="workflow_records")
    workflow = models.CharField(max_length=80)
    node = models.CharField(max_length=80)
    completed = models.BooleanField()
    note = models.TextField(blank=True)
    call = models.ForeignKey("assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("workflow record"), _("workflow records")
        ordering = ["-id"]
        indexes = [models.Index(fields=["root", "workflow"], name="records_of_workflow")]

    def __str__(self) -> str:
        return f"{self.workflow}.{self.node}: {'done' if self.completed else 'not done'}"
