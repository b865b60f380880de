"""How much somebody may write who has not signed in."""

from datetime import timedelta

from django.conf import settings

from assistants import clock
from assistants.access import Visitor
from assistants.errors import Throttled
from assistants.models import Message
from assistants.rates import count

# One address may be a whole office behind one router, so it gets more than one visitor.
VISITORS_PER_ADDRESS = 10
HOUR = 3600


def check_visitor(visitor: Visitor, address: str) -> None:
    """Raises `TOO_MANY_MESSAGES` when this visitor, or this network address, has written enough for an hour.

    The messages themselves are counted, so a restart forgives nothing. A visitor who throws the cookie away is
    counted by address, in this process.
    """
    limit = settings.TASKMONKEY["VISITOR_MESSAGES_PER_HOUR"]
    since = clock.now() - timedelta(seconds=HOUR)
    own = Message.objects.filter(thread__visitor_key=visitor.key, thread__owner=None, role=Message.Role.USER)
    counted = count("visitor", address, seconds=HOUR)
    written = list(own.filter(created__gte=since).order_by("-created").values_list("created", flat=True)[:limit])
    if counted.times <= limit * VISITORS_PER_ADDRESS and len(written) < limit:
        return
    # The oldest of the last messages is the next one that does not count any more.
    rest = (written[-1] - since).total_seconds() if len(written) >= limit else counted.seconds_left
    raise Throttled(
        code="TOO_MANY_MESSAGES",
        message="That is enough for now: visitors may send only so many messages in an hour. Your text was kept.",
        fix=f"Wait {int(rest // 60) + 1} minutes, or sign in.",
        retry_after=int(rest) + 1,
    )
