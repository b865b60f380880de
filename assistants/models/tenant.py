"""Who belongs where, and in which role."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Exists, Q
from django.utils.translation import gettext_lazy as _

from .row import Row


class Tenant(Row):
    """One team. Everything else belongs to exactly one tenant."""

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=120)
    default_profile = models.ForeignKey(
        "assistants.LLMProfile",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("The model of every assistant that names none. Empty: whatever is at hand (see the README)."),
        verbose_name=_("default profile"),
    )
    currency = models.CharField(_("currency"), max_length=3, default="EUR")
    keep_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        verbose_name=_("days to keep"),
        help_text=_("Conversations that nobody has touched for so many days are deleted for good. Empty: kept for ever."),
    )

    class Meta:
        verbose_name, verbose_name_plural = _("tenant"), _("tenants")

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    ADMIN = "admin", _("Admin")
    MEMBER = "member", _("Member")
    READER = "reader", _("Read-only")


class Membership(Row):
    """A user's place in a tenant. A reader may open what is shared with them, and nothing else."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("tenant"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user")
    )
    role = models.CharField(_("role"), max_length=8, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        verbose_name, verbose_name_plural = _("membership"), _("memberships")
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="one_membership_per_tenant")]

    def __str__(self) -> str:
        return f"{self.user} in {self.tenant} ({self.get_role_display()})"


def managed_by(user_id: Any) -> "models.QuerySet[Tenant]":
    """The tenants that somebody sets up, by their id: all of them for the site's superuser, else where they are admin."""
    led = Membership.objects.filter(user=user_id, user__is_active=True, role=Role.ADMIN)
    superuser = get_user_model().objects.filter(pk=user_id, is_active=True, is_superuser=True)
    return Tenant.objects.filter(Q(pk__in=led.values("tenant")) | Exists(superuser))


class AuditEntry(models.Model):
    """Who changed or was refused what. Written once, never changed."""

    tenant = models.ForeignKey(
        Tenant, null=True, on_delete=models.CASCADE, related_name="audit_entries", verbose_name=_("tenant")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", verbose_name=_("user")
    )
    action = models.CharField(_("action"), max_length=60)
    target = models.CharField(_("target"), max_length=200, blank=True)
    detail = models.JSONField(_("detail"), default=dict, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("audit entry"), _("audit entries")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
