"""When a server looks for garbage: among what is new all the time, in short pieces; among everything when nobody notices."""

import gc
from dataclasses import dataclass

from assistants import clock
from assistants.turns import live

# New objects until the newest are looked through (half a millisecond), how often until those that stayed are (four), and never
# by itself all of them: with a thousand open pages that stops every stream for a quarter of a second.
THRESHOLDS = (1_000, 5, 1_000_000)
LOOK_SECONDS = 60.0
# While there is always somebody who reads along, everything is looked through after so long all the same.
LATEST_SECONDS = 900.0


@dataclass
class GarbageCollection:
    """Looks through everything once a minute, if no reply is growing."""

    last: float = 0.0

    def settle(self) -> None:
        """What is there by now stays; it is not looked through again."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        self.last = clock.monotonic()

    def look(self) -> int:
        """How many objects were garbage."""
        if live.is_any() and clock.monotonic() - self.last < LATEST_SECONDS:
            return 0
        self.last = clock.monotonic()
        return gc.collect()
