"""A profile's key: written, never shown, and never sent to another server than the one it was entered for."""

import os

from django.utils.translation import gettext

from assistants.models import LLMProfile

KEPT, SET, REMOVED, DROPPED = "kept", "set", "removed", "dropped"


def settle_key(profile: LLMProfile, *, key: str, remove: bool, may_name_variable: bool) -> str:
    """Decides about the key of a profile that is about to be saved; gives kept, set, removed or dropped (D10, S36).

    Whoever changes the provider or the address without entering the key again could have it sent to a server of their
    own, so it is dropped then. The same goes for an environment variable, except for those who may name one.
    """
    former = LLMProfile.objects.filter(pk=profile.pk).first() if profile.pk else None
    moved = former is not None and (former.provider, former.base_url) != (profile.provider, profile.base_url)
    had_variable = bool(profile.key_variable)
    if moved and not may_name_variable:
        profile.key_variable = ""
    if key:
        profile.set_key(key)
        return SET
    if remove:
        profile.set_key("")
        return REMOVED
    if moved and (profile.encrypted_key or had_variable and not profile.key_variable):
        profile.set_key("")
        return DROPPED
    return KEPT


def key_state(profile: LLMProfile) -> str:
    """Says where the key comes from and whether there is one, in words that hold nothing of it (S34)."""
    if profile.key_variable:
        if os.environ.get(profile.key_variable):
            told = gettext("From the environment variable %(name)s, which is set on this server.")
        else:
            told = gettext("From the environment variable %(name)s, which is not set on this server.")
        return told % {"name": profile.key_variable}
    return gettext("Set. It can be replaced or removed, but not shown.") if profile.encrypted_key else gettext("Not set.")
