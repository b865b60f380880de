"""What was said in a thread, by whom, and on which branch."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .row import Row


class Message(Row):
    """One message. `parts` is a list of {"type": "text"|"reasoning"|"answer"|"context"|"tool_result", ...}.

    `parent` is the message before it on its branch; siblings share a parent. `sequence` orders messages by the time
    they were accepted, and is unique in the thread.
    """

    class Role(models.TextChoices):
        SYSTEM = "system"
        USER = "user"
        ASSISTANT = "assistant"
        TOOL = "tool"

    class State(models.TextChoices):
        QUEUED = "queued"
        STREAMING = "streaming"
        COMPLETE = "complete"
        INTERRUPTED = "interrupted"
        STOPPED = "stopped"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    thread = models.ForeignKey("assistants.Thread", on_delete=models.CASCADE, related_name="messages")
    sequence = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=Role.choices)
    state = models.CharField(max_length=12, choices=State.choices, default=State.COMPLETE)
    parts = models.JSONField(default=list)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    client_key = models.CharField(max_length=64, blank=True)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="replies")
    turn = models.ForeignKey("assistants.Turn", null=True, on_delete=models.SET_NULL, related_name="messages")
    round = models.PositiveIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("message"), _("messages")
        constraints = [
            models.UniqueConstraint(fields=["thread", "sequence"], name="message_sequence_per_thread"),
            models.UniqueConstraint(
                fields=["thread", "client_key"], condition=~models.Q(client_key=""), name="one_message_per_client_key"
            ),
            models.UniqueConstraint(fields=["turn", "round"], condition=models.Q(role="assistant"), name="one_reply_per_round"),
        ]
        ordering = ["sequence"]

    def __str__(self) -> str:
        return f"{self.role} {self.sequence}"

    @property
    def text(self) -> str:
        return "".join(part.get("text", "") for part in self.parts if part["type"] == "text")

    @property
    def reasoning(self) -> str:
        return "".join(part.get("text", "") for part in self.parts if part["type"] == "reasoning")
