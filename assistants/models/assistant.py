"""An assistant that an admin set up, and every version it had."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .row import Row


class AssistantQuerySet(models.QuerySet["Assistant"]):
    def enabled(self) -> "AssistantQuerySet":
        return self.filter(enabled=True)

    def for_visitors(self) -> "AssistantQuerySet":
        return self.filter(enabled=True, public=True)


class PlanGate(models.TextChoices):
    FANOUT = "fanout", _("Before it hands out several tasks at once")
    ALWAYS = "always", _("Before any delegation")


class PlanApproval(models.TextChoices):
    NONE = "none", _("Nobody")
    PERSON = "person", _("A person")


class Assistant(Row):
    """What an assistant is told, which model it uses, and what it may do."""

    tenant = models.ForeignKey(
        "assistants.Tenant", on_delete=models.CASCADE, related_name="assistants", verbose_name=_("tenant")
    )
    slug = models.SlugField(_("slug"), help_text=_("The name other assistants call it by. Lower case, no spaces."))
    name = models.CharField(_("name"), max_length=120)
    avatar = models.CharField(_("avatar"), max_length=8, blank=True, help_text=_("One emoji or letter."))
    description = models.TextField(
        _("description"),
        blank=True,
        help_text=_("What it is for, in words a person would use. Other assistants choose it by this text."),
    )
    instructions = models.TextField(_("instructions"), help_text=_("The system prompt."))
    profile = models.ForeignKey(
        "assistants.LLMProfile",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="assistants",
        help_text=_("Empty: the tenant's default."),
        verbose_name=_("profile"),
    )
    tools = models.JSONField(_("tools"), default=list, blank=True)
    delegates = models.ManyToManyField(
        "self",
        symmetrical=False,
        blank=True,
        related_name="delegators",
        help_text=_("The assistants it may hand work to. Empty: every assistant of the team that is not public."),
        verbose_name=_("delegates"),
    )
    domain = models.ForeignKey(
        "assistants.Domain",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="assistants",
        verbose_name=_("domain"),
    )
    public = models.BooleanField(
        _("public"), default=False, help_text=_("Visitors may chat with it without signing in. It then can't delegate.")
    )
    may_ask = models.BooleanField(
        _("may ask"),
        default=True,
        help_text=_("As a sub-chat it may put a question to the person; the caller waits for the answer."),
    )
    plan_gate = models.CharField(
        _("plan gate"),
        max_length=8,
        choices=PlanGate.choices,
        default=PlanGate.FANOUT,
        help_text=_("Whether it needs a plan only before it hands out several tasks at once, or before any delegation."),
    )
    plan_approval = models.CharField(
        _("plan approval"),
        max_length=8,
        choices=PlanApproval.choices,
        default=PlanApproval.NONE,
        help_text=_("Whether a person has to approve the plan before any delegation."),
    )
    approve_tools = models.JSONField(
        _("approve tools"),
        default=list,
        blank=True,
        help_text=_("Tools that run only after a person has seen and approved their exact arguments."),
    )
    internal = models.BooleanField(
        _("internal"),
        default=False,
        editable=False,
        help_text=_("Part of a mechanism, such as a research's explorer: nobody chats with it or hands it work by name."),
    )
    research = models.BooleanField(
        _("research"),
        default=False,
        help_text=_("It answers only from what its explorers find in the documents, with numbered results and evidence."),
    )
    turn_tokens = models.PositiveIntegerField(
        _("turn tokens"),
        null=True,
        blank=True,
        help_text=_("Tokens for one turn with everything below it. Empty: the site's default."),
    )
    idle_seconds = models.PositiveIntegerField(
        _("idle seconds"),
        null=True,
        blank=True,
        help_text=_("As a sub-chat: cut off after so many seconds without a sign of life. Empty: the default."),
    )
    wall_seconds = models.PositiveIntegerField(
        _("wall seconds"),
        null=True,
        blank=True,
        help_text=_("As a sub-chat: cut off after so many seconds in all. Empty: the site's default."),
    )
    starters = models.JSONField(_("starters"), default=list, blank=True, help_text=_("Messages offered in an empty chat."))
    max_steps = models.PositiveSmallIntegerField(_("max steps"), default=50, help_text=_("Model calls in one turn."))
    enabled = models.BooleanField(_("enabled"), default=True)
    version = models.PositiveIntegerField(_("version"), default=0, editable=False)

    objects = AssistantQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("assistant"), _("assistants")
        constraints = [models.UniqueConstraint(fields=["tenant", "slug"], name="assistant_slug_per_tenant")]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class AssistantVersion(models.Model):
    """An assistant's whole definition as it was after one change."""

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("assistant version"), _("assistant versions")
        constraints = [models.UniqueConstraint(fields=["assistant", "number"], name="version_number_per_assistant")]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"{self.assistant} v{self.number}"
