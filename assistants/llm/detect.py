"""Finds what model is at hand when no profile is set."""

from .profile import Profile


def detect_profile() -> Profile:
    """The built-in engine, as long as nothing else is found."""
    return Profile(provider="builtin", model="builtin", label="Built-in engine")
