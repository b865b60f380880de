"""When an open page draws what changed: soon, once for several changes, and not in the middle of a rush."""

from assistants import clock
from assistants.desk import desk

# Seconds from a change to the look at it, and from one look to the next. The steps of a turn follow each other closely:
# what is drawn a moment later is drawn once for several of them. The panel sums up, so it may lag behind by a second; it and
# the list of conversations are drawn together, as all is that is due within a moment.
DELAY = {"thread": 0.05, "user": 0.5, "panel": 0.5}
PACE = {"thread": 0.08, "tree": 0.5, "user": 0.5, "panel": 1.0}
TOGETHER = 0.1
ACCESS = "access"
# While sends and turns wait for each other, drawings wait up to so many seconds, looking that often whether it is over.
RUSH_SECONDS, RUSH_LOOK = 4.0, 0.1


class Agenda:
    """The topics that changed, and when each is due."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    def add(self, topic: str) -> None:
        """Notes a change, to be looked at a little later; a second one before that adds nothing."""
        kind = topic.partition(":")[0]
        at = max(clock.monotonic() + DELAY.get(kind, 0.0), self._seen.get(topic, 0.0) + PACE.get(kind, 0.0))
        self._due.setdefault(topic, at)

    def take(self) -> list[str]:
        """What is due now, in the order of the changes."""
        now = clock.monotonic()
        by = now - (RUSH_SECONDS if desk.is_crowded else 0.0)
        if any(at <= by for topic, at in self._due.items() if topic != ACCESS):
            by += TOGETHER
        ready = [topic for topic, at in self._due.items() if topic == ACCESS or at <= by]
        for topic in ready:
            del self._due[topic]
            self._seen[topic] = now
        return ready

    def seconds(self) -> float | None:
        """How long until something is due; None while nothing is."""
        if not self._due:
            return None
        return max(min(self._due.values()) - clock.monotonic(), RUSH_LOOK if desk.is_crowded else 0.0)
