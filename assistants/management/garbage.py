"""When a server looks for garbage: among what is new all the time, in short pieces; among everything when nobody notices."""

import gc
from dataclasses import dataclass

from assistants import clock
from assistants.open_pages import open_pages
from assistants.turns import live

# New objects until the newest are looked through (half a millisecond), how often until those that stayed are (four), and never
# by itself all of them: with a thousand open pages that stops every stream for a quarter of a second.
THRESHOLDS = (1_000, 5, 1_000_000)
LOOK_SECONDS = 30.0
# While there is always somebody who reads along, everything is looked through all the same after so many seconds, or when so
# many pages were closed: each leaves objects that hold each other, and with them up to a fifth of a megabyte.
LATEST_SECONDS, MOST_CLOSED = 900.0, 200


@dataclass
class GarbageCollection:
    """Looks through everything twice a minute, if no reply is growing."""

    last: float = 0.0
    gone: int = 0

    def settle(self) -> None:
        """What is there by now stays; it is not looked through again."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        self.last, self.gone = clock.monotonic(), open_pages.gone

    def look(self) -> int:
        """How many objects were garbage."""
        waited, gone = clock.monotonic() - self.last, open_pages.gone - self.gone
        if live.is_any() and waited < LATEST_SECONDS and gone < MOST_CLOSED:
            return 0
        self.last, self.gone = clock.monotonic(), open_pages.gone
        return gc.collect()
