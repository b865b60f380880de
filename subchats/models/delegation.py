"""A parent's tool call and the sub-chat that it opened."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Delegation(models.Model):
    """Joins a call to a child thread (T-09), a fan-out's call to several (J-11). Each report returns exactly once;
    `sent_turn` is the newest turn whose result a person has sent up since.
    """

    class Kind(models.TextChoices):
        INVOKE = "invoke", _("invoke")
        SPAWN = "spawn", _("spawn")
        EXPLORE = "explore", _("explore")

    call = models.ForeignKey(
        "assistants.ToolCall", null=True, on_delete=models.SET_NULL, related_name="delegations", verbose_name=_("call")
    )
    position = models.PositiveSmallIntegerField(
        _("position"), default=0, help_text=_("Its place among the sub-chats of the same call.")
    )
    label = models.CharField(
        _("label"), max_length=120, blank=True, help_text=_("What the caller calls this part of a fan-out (J-11).")
    )
    report = models.JSONField(
        _("report"), null=True, help_text=_("What it returned, kept until its siblings are back as well.")
    )
    child = models.OneToOneField(
        "assistants.Thread", on_delete=models.CASCADE, related_name="delegation", verbose_name=_("child")
    )
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    task = models.TextField(_("task"))
    returned_at = models.DateTimeField(_("returned at"), null=True)
    hand_back = models.JSONField(
        _("hand back"), null=True, help_text=_("What the child handed back: needed, established, owner, note.")
    )
    sent_turn = models.PositiveBigIntegerField(_("sent turn"), default=0)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("delegation"), _("delegations")
        ordering = ["call_id", "position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_sub_chat_per_place")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.child_id}"
