"""A person who signs in."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from .row import Row


class User(AbstractUser, Row):
    """Django's user with the two things a chat page needs to know."""

    language = models.CharField(_("language"), max_length=8, blank=True)
    theme = models.CharField(
        _("theme"),
        max_length=8,
        default="auto",
        choices=[("auto", _("As the system")), ("light", _("Light")), ("dark", _("Dark"))],
    )

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username
