"""A person who signs in."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Django's user with the two things a chat page needs to know."""

    language = models.CharField(max_length=8, blank=True)
    theme = models.CharField(
        max_length=8, default="auto", choices=[("auto", "As the system"), ("light", "Light"), ("dark", "Dark")]
    )

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username
