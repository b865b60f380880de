"""A parent's tool call and the sub-chat that it opened."""

from django.db import models


class Delegation(models.Model):
    """Joins one call to one child thread (T-09). Its report returns exactly once; `sent_turn` is the newest turn whose
    result a person has sent up since."""

    class Kind(models.TextChoices):
        INVOKE = "invoke"
        SPAWN = "spawn"

    call = models.OneToOneField("assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="delegation")
    child = models.OneToOneField("assistants.Thread", on_delete=models.CASCADE, related_name="delegation")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    task = models.TextField()
    returned_at = models.DateTimeField(null=True)
    hand_back = models.JSONField(null=True, help_text="What the child handed back: needed, established, owner, note.")
    sent_turn = models.PositiveBigIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.child_id}"
