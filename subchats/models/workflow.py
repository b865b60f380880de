"""A tenant's own workflows, and what was said about the steps of any workflow in a conversation."""

from django.conf import settings
from django.db import models


class Workflow(models.Model):
    """A workflow that a tenant's admin has written; those of the product itself are catalogued in code (J-32).

    `nodes` is a list of {id, title, owner, operations, produces, requires, hazard, note}, validated like those in code.
    """

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="workflows")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=160)
    definition = models.TextField(help_text="What it is for, in words that a person would use.")
    exemplars = models.JSONField(default=list, help_text="Requests that call for it.")
    nodes = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)

    class Meta:
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
        ordering = ["-id"]
        indexes = [models.Index(fields=["root", "workflow"], name="records_of_workflow")]

    def __str__(self) -> str:
        return f"{self.workflow}.{self.node}: {'done' if self.completed else 'not done'}"
