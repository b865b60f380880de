"""A table behind a pointer: its rows never pass through a model again."""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _


def new_pointer() -> str:
    return "tbl_" + secrets.token_hex(6)


class StoredTable(models.Model):
    """Written once, never changed, kept with the conversation at the top; its sub-chats share it.

    `columns` is a list of {name, type text|number|date|bool}, `rows` a list of lists in their order, `sources` the sub-chats
    and tools that the rows came from. A copy of a conversation holds its own copy of a table under the same pointer.
    """

    pointer = models.CharField(max_length=16, default=new_pointer)
    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="tables")
    root = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="tables")
    call = models.ForeignKey("assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="tables")
    title = models.CharField(max_length=200)
    columns = models.JSONField()
    rows = models.JSONField()
    row_count = models.PositiveIntegerField(default=0)
    sources = models.JSONField(default=list)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("stored table"), _("stored tables")
        constraints = [
            models.UniqueConstraint(fields=["root", "pointer"], name="one_table_per_pointer"),
        ]

    def __str__(self) -> str:
        return f"{self.pointer} {self.title}"
