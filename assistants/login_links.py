"""Links that sign somebody in, once."""

from typing import Any

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from assistants import clock
from assistants.models import User


class LoginLink(PasswordResetTokenGenerator):
    """One-time sign-in tokens: signing in changes `last_login`, which makes the token worthless."""

    key_salt = "assistants.access.LoginLink"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        # Django leaves the fractions of a second out, so a link that is used within the second of the last sign-in
        # would go on to work.
        return f"{super()._make_hash_value(user, timestamp)}{user.last_login}"


def make_login_link(user: User) -> str:
    """The path of a link that signs this user in, once, within the password-reset time-out."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("enter", args=[uid, LoginLink().make_token(user)])


def user_of_link(uid: str, token: str) -> User | None:
    """The user whom the link signs in, or None if it was used, is too old or was never made."""
    try:
        user = User.objects.filter(pk=urlsafe_base64_decode(uid).decode(), is_active=True).first()
    except (ValueError, UnicodeDecodeError):
        return None
    return user if user and LoginLink().check_token(user, token) else None


def use_link(uid: str, token: str) -> User | None:
    """Uses the link up and gives the user whom it signs in; of two at the same moment only one gets in (S16)."""
    user = user_of_link(uid, token)
    if user is None:
        return None
    unused = User.objects.filter(pk=user.pk, last_login=user.last_login, password=user.password)
    return user if unused.update(last_login=clock.now()) else None
