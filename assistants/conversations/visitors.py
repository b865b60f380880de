"""How much somebody may write who has not signed in."""

from datetime import timedelta

from django.conf import settings
from django.core.cache import cache

from assistants import clock
from assistants.access import Visitor
from assistants.errors import Throttled
from assistants.models import Message

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
    key = f"visitor-messages:{address}"
    cache.add(key, 0, HOUR)
    if cache.incr(key) > limit * VISITORS_PER_ADDRESS or own.filter(created__gte=since).count() >= limit:
        raise Throttled(
            code="TOO_MANY_MESSAGES",
            message="That is enough for now: visitors may send only so many messages in an hour. Your text was kept.",
            fix="Wait a while, or sign in.",
        )
