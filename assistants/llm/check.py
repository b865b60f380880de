"""Tries a connection with one tiny request, for the administrator who has just typed it in."""

import time
from dataclasses import replace

from assistants.llm.ask import ask
from assistants.llm.profile import Profile
from assistants.llm.request import User

# Enough for a model that thinks first; a longer answer is cut, which counts as success as well.
ANSWER_TOKENS = 64
CHECK_SECONDS = 30.0
# What the limits within are given beyond it, so that their own sentence comes first.
GRACE_SECONDS = 2.0


def check_connection(profile: Profile, *, seconds: float = CHECK_SECONDS) -> str:
    """Asks the model for one word and says in a sentence how it went. From any thread but the stream loop's.

    Raises ModelError once the model's own limits, of `seconds` at most, have passed, and TimeoutError if it could not even
    be asked for so long.
    """
    limits = replace(
        profile.limits,
        connect=min(profile.limits.connect, seconds),
        first_token=min(profile.limits.first_token, seconds),
        total=min(profile.limits.total, seconds),
    )
    small = replace(profile, max_output_tokens=min(profile.max_output_tokens, ANSWER_TOKENS), limits=limits)
    begun = time.monotonic()
    asked = ask(small, [User("Answer with the word OK.")], [], _Nobody())
    try:
        reply = asked.result(timeout=seconds + GRACE_SECONDS)
    finally:
        asked.cancel()
    took = time.monotonic() - begun
    said = "" if reply.text.strip() else ", but without any text"
    return f"The connection works: {profile.model} answered in {took:.1f} seconds{said}."


class _Nobody:
    """A sink for an answer that nobody reads."""

    def on_text(self, delta: str) -> None: ...

    def on_reasoning(self, delta: str) -> None: ...
