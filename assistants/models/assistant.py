"""An assistant that an admin set up, and every version it had."""

from django.conf import settings
from django.db import models


class AssistantQuerySet(models.QuerySet["Assistant"]):
    def enabled(self) -> "AssistantQuerySet":
        return self.filter(enabled=True)

    def for_visitors(self) -> "AssistantQuerySet":
        return self.filter(enabled=True, public=True)


class PlanGate(models.TextChoices):
    FANOUT = "fanout", "Before it hands out several tasks at once"
    ALWAYS = "always", "Before any delegation"


class PlanApproval(models.TextChoices):
    NONE = "none", "Nobody"
    PERSON = "person", "A person"


class Assistant(models.Model):
    """What an assistant is told, which model it uses, and what it may do."""

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="assistants")
    slug = models.SlugField(help_text="The name other assistants call it by. Lower case, no spaces.")
    name = models.CharField(max_length=120)
    avatar = models.CharField(max_length=8, blank=True, help_text="One emoji or letter.")
    description = models.TextField(
        blank=True, help_text="What it is for, in words a person would use. Other assistants choose it by this text."
    )
    instructions = models.TextField(help_text="The system prompt.")
    profile = models.ForeignKey(
        "assistants.LLMProfile",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="assistants",
        help_text="Empty: the tenant's default.",
    )
    tools = models.JSONField(default=list, blank=True)
    delegates = models.ManyToManyField(
        "self",
        symmetrical=False,
        blank=True,
        related_name="delegators",
        help_text="The assistants it may hand work to. Empty: every assistant of the team that is not public.",
    )
    domain = models.ForeignKey("assistants.Domain", null=True, blank=True, on_delete=models.SET_NULL, related_name="assistants")
    public = models.BooleanField(
        default=False, help_text="Visitors may chat with it without signing in. It then can't delegate."
    )
    may_ask = models.BooleanField(
        default=True, help_text="As a sub-chat it may put a question to the person; the caller waits for the answer."
    )
    plan_gate = models.CharField(
        max_length=8,
        choices=PlanGate.choices,
        default=PlanGate.FANOUT,
        help_text="Whether it needs a plan only before it hands out several tasks at once, or before any delegation.",
    )
    plan_approval = models.CharField(
        max_length=8,
        choices=PlanApproval.choices,
        default=PlanApproval.NONE,
        help_text="Whether a person has to approve the plan before any delegation.",
    )
    approve_tools = models.JSONField(
        default=list, blank=True, help_text="Tools that run only after a person has seen and approved their exact arguments."
    )
    internal = models.BooleanField(
        default=False,
        editable=False,
        help_text="Part of a mechanism, such as a research's explorer: nobody chats with it or hands it work by name.",
    )
    research = models.BooleanField(
        default=False,
        help_text="It answers only from what its explorers find in the documents, with numbered results and evidence.",
    )
    turn_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Tokens for one turn with everything below it. Empty: the site's default."
    )
    idle_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="As a sub-chat: cut off after so many seconds without a sign of life. Empty: the default.",
    )
    wall_seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="As a sub-chat: cut off after so many seconds in all. Empty: the site's default."
    )
    starters = models.JSONField(default=list, blank=True, help_text="Messages offered in an empty chat.")
    max_steps = models.PositiveSmallIntegerField(default=50, help_text="Model calls in one turn.")
    enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=0, editable=False)

    objects = AssistantQuerySet.as_manager()

    class Meta:
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
        constraints = [models.UniqueConstraint(fields=["assistant", "number"], name="version_number_per_assistant")]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"{self.assistant} v{self.number}"
