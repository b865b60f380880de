"""How often somebody may guess a password."""

import unicodedata

from assistants.errors import Throttled
from assistants.rates import count, forget

SECONDS = 600
MOST = 10


def check_guess(username: str, address: str) -> None:
    """Counts one more attempt to sign in. Raises `TOO_MANY_GUESSES`, in the same words whether or not the name exists.

    Counted before the password is looked at, so that attempts at the same moment count as well (S17). The address is
    the connection's own: what a request says about it could be made up.
    """
    tries = count("sign-in", address, _plain(username), seconds=SECONDS)
    if tries.times <= MOST:
        return
    minutes = -(-tries.seconds_left // 60)
    raise Throttled(
        code="TOO_MANY_GUESSES",
        message="Too many attempts to sign in failed. Nothing was tried this time.",
        fix=f"Wait {minutes} minute{'s' if minutes > 1 else ''}, or ask an admin for a new password.",
        retry_after=tries.seconds_left,
    )


def forgive(username: str, address: str) -> None:
    """The password was right: what was counted for this name and address is forgotten."""
    forget("sign-in", address, _plain(username))


def _plain(username: str) -> str:
    return unicodedata.normalize("NFKC", username).strip().casefold()
