"""A parent's tool call and the sub-chat that it opened."""

from django.db import models


class Delegation(models.Model):
    """Joins a call to a child thread (T-09), a fan-out's call to several (J-11). Each report returns exactly once;
    `sent_turn` is the newest turn whose result a person has sent up since.
    """

    class Kind(models.TextChoices):
        INVOKE = "invoke"
        SPAWN = "spawn"
        EXPLORE = "explore"

    call = models.ForeignKey("assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="delegations")
    position = models.PositiveSmallIntegerField(default=0, help_text="Its place among the sub-chats of the same call.")
    label = models.CharField(max_length=120, blank=True, help_text="What the caller calls this part of a fan-out (J-11).")
    report = models.JSONField(null=True, help_text="What it returned, kept until its siblings are back as well.")
    child = models.OneToOneField("assistants.Thread", on_delete=models.CASCADE, related_name="delegation")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    task = models.TextField()
    returned_at = models.DateTimeField(null=True)
    hand_back = models.JSONField(null=True, help_text="What the child handed back: needed, established, owner, note.")
    sent_turn = models.PositiveBigIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call_id", "position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_sub_chat_per_place")]

    def __str__(self) -> str:
        return f"{self.kind} {self.child_id}"
