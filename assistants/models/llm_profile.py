"""How a tenant reaches a model, with a key that can be written but never read back."""

import base64
import hashlib
import os

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assistants.errors import CodedError
from assistants.llm.profile import Profile, TimeLimits

from .row import Row


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"llm-profile-key" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


class LLMProfile(Row):
    """One model at one provider. Base URL and key are an admin's business only."""

    class Provider(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible")
        ANTHROPIC = "anthropic", "Anthropic"
        GOOGLE = "google", "Google"
        LOCAL = "local", _("Local model")
        BUILTIN = "builtin", _("Built-in engine (no language model)")
        SCRIPTED = "scripted", _("Scripted model (for tests and demos)")

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="profiles", verbose_name=_("tenant"))
    name = models.CharField(_("name"), max_length=80)
    provider = models.CharField(_("provider"), max_length=12, choices=Provider.choices)
    model = models.CharField(_("model"), max_length=120, blank=True, help_text=_("The provider's own name of the model."))
    base_url = models.URLField(_("base url"), blank=True, help_text=_("Only for servers other than the provider's own."))
    key_variable = models.CharField(
        _("key variable"),
        max_length=80,
        blank=True,
        help_text=_("Take the key from this environment variable instead of storing it here."),
    )
    encrypted_key = models.TextField(_("encrypted key"), blank=True, editable=False)
    max_output_tokens = models.PositiveIntegerField(_("max output tokens"), default=4096)
    context_window = models.PositiveIntegerField(
        _("context window"), default=32_000, help_text=_("Tokens that fit into one request.")
    )
    streaming = models.BooleanField(_("streaming"), default=True)
    makes_titles = models.BooleanField(
        _("makes titles"), default=True, help_text=_("Ask it once per conversation for a title.")
    )
    first_token_seconds = models.PositiveIntegerField(_("first token seconds"), default=60)
    idle_seconds = models.PositiveIntegerField(_("idle seconds"), default=30)
    total_seconds = models.PositiveIntegerField(_("total seconds"), default=600)
    input_price = models.DecimalField(
        _("input price"), max_digits=10, decimal_places=4, default=0, help_text=_("Per million tokens.")
    )
    output_price = models.DecimalField(
        _("output price"), max_digits=10, decimal_places=4, default=0, help_text=_("Per million tokens.")
    )

    class Meta:
        verbose_name, verbose_name_plural = _("LLM profile"), _("LLM profiles")
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="profile_name_per_tenant")]

    def __str__(self) -> str:
        return self.name

    def set_key(self, key: str) -> None:
        """Stores the key encrypted with the site's secret key; an empty text removes it."""
        self.encrypted_key = _cipher().encrypt(key.encode()).decode() if key else ""

    def get_key(self) -> str:
        """The key for the provider. Raises `PROFILE_KEY_UNREADABLE` after the site's secret key was changed."""
        if self.key_variable:
            return os.environ.get(self.key_variable, "")
        if not self.encrypted_key:
            return ""
        try:
            return _cipher().decrypt(self.encrypted_key.encode()).decode()
        except InvalidToken:
            raise CodedError(
                code="PROFILE_KEY_UNREADABLE",
                message=f"The stored key of profile “{self.name}” can't be read: the site's secret key has changed.",
                fix="Enter the key again in the profile.",
            ) from None

    def as_profile(self) -> Profile:
        """The value that the model layer works with."""
        return Profile(
            provider=self.provider,
            model=self.model,
            label=self.name,
            base_url=self.base_url,
            api_key=self.get_key(),
            max_output_tokens=self.max_output_tokens,
            context_window=0 if self.provider == self.Provider.BUILTIN else self.context_window,
            streaming=self.streaming,
            makes_titles=self.makes_titles,
            limits=TimeLimits(first_token=self.first_token_seconds, idle=self.idle_seconds, total=self.total_seconds),
            input_price=float(self.input_price),
            output_price=float(self.output_price),
        )
