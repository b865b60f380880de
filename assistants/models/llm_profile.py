"""How a tenant reaches a model, with a key that can be written but never read back."""

import base64
import hashlib
import os

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import models

from assistants.errors import CodedError
from assistants.llm.profile import Profile, TimeLimits


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"llm-profile-key" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


class LLMProfile(models.Model):
    """One model at one provider. Base URL and key are an admin's business only."""

    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible"
        ANTHROPIC = "anthropic", "Anthropic"
        GOOGLE = "google", "Google"
        LOCAL = "local", "Local model"
        BUILTIN = "builtin", "Built-in engine (no language model)"
        SCRIPTED = "scripted", "Scripted model (for tests and demos)"

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="profiles")
    name = models.CharField(max_length=80)
    provider = models.CharField(max_length=12, choices=Provider.choices)
    model = models.CharField(max_length=120, blank=True, help_text="The provider's own name of the model.")
    base_url = models.URLField(blank=True, help_text="Only for servers other than the provider's own.")
    key_variable = models.CharField(
        max_length=80, blank=True, help_text="Take the key from this environment variable instead of storing it here."
    )
    encrypted_key = models.TextField(blank=True, editable=False)
    max_output_tokens = models.PositiveIntegerField(default=4096)
    context_window = models.PositiveIntegerField(default=32_000, help_text="Tokens that fit into one request.")
    streaming = models.BooleanField(default=True)
    makes_titles = models.BooleanField(default=True, help_text="Ask it once per conversation for a title.")
    first_token_seconds = models.PositiveIntegerField(default=60)
    idle_seconds = models.PositiveIntegerField(default=30)
    total_seconds = models.PositiveIntegerField(default=600)
    input_price = models.DecimalField(max_digits=10, decimal_places=4, default=0, help_text="Per million tokens.")
    output_price = models.DecimalField(max_digits=10, decimal_places=4, default=0, help_text="Per million tokens.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="profile_name_per_tenant")]
        verbose_name = "LLM profile"

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
            context_window=self.context_window,
            streaming=self.streaming,
            makes_titles=self.makes_titles,
            limits=TimeLimits(first_token=self.first_token_seconds, idle=self.idle_seconds, total=self.total_seconds),
            input_price=float(self.input_price),
            output_price=float(self.output_price),
        )
