"""Markers inside the streamed text, and what can be told from when a client saw them."""

import re
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# One plain word, which JSON, HTML and Markdown leave alone: the delta's number and its send time; the first delta of an
# answer also says when the upstream had the request.
MARK = re.compile(r"q(\d+)t(\d+)(?:r(\d+))?z")
LONGEST_MARK = 48


def now_us() -> int:
    """Microseconds of the monotonic clock, which all processes of one machine share."""
    return time.monotonic_ns() // 1000


def mark(number: int, sent: int, received: int | None = None) -> str:
    """The marker of a delta; `sent` and `received` in microseconds of `now_us`."""
    return f"q{number}t{sent}z" if received is None else f"q{number}t{sent}r{received}z"


def quantile(values: Iterable[float], share: float) -> float:
    """The nearest-rank quantile; nan when there is no value."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, max(0, int(share * len(ordered) + 0.5) - 1))]


def median(values: Iterable[float]) -> float:
    """The median of the values that are numbers; nan when there is none."""
    found = [value for value in values if value == value]
    return statistics.median(found) if found else float("nan")


@dataclass
class Heard:
    """One message sent, and every frame that came back for it. Frames are only noted while the clock runs."""

    expected: int
    sent: int = 0
    ended: int = 0
    error: str = ""
    frames: list[tuple[int, str]] = field(default_factory=list)

    def note(self, frame: str) -> None:
        """Notes a frame that has just arrived."""
        self.frames.append((now_us(), frame))

    def figures(self) -> dict[str, Any]:
        """This answer's latencies in milliseconds.

        `first` is sending to the first delta seen, less what the upstream itself took for it; `added` is, for every delta,
        seen less sent; `over` is sending to the last delta seen, less what the upstream took for all. A delta counts as
        seen with the first frame that holds its marker or a later one.
        """
        sent, seen, received = self._read()
        complete = len(seen) == self.expected and not self.error
        told: dict[str, Any] = {"deltas": len(seen), "complete": complete, "error": self.error}
        told |= {"frames": len(self.frames), "chars": sum(len(frame) for _, frame in self.frames)}
        if received is None or not seen:
            return {**told, "complete": False}
        last = max(sent)
        return {
            **told,
            "added": [(seen[number] - at) / 1000 for number, at in sent.items()],
            "upstream": (sent[last] - received) / 1000,
            "first": ((seen[0] - self.sent) - (sent[0] - received)) / 1000,
            "over": ((seen[last] - self.sent) - (sent[last] - received)) / 1000,
            "asked": (received - self.sent) / 1000,
        }

    def _read(self) -> tuple[dict[int, int], dict[int, int], int | None]:
        sent: dict[int, int] = {}
        seen: dict[int, int] = {}
        received = None
        tail = ""
        for at, frame in self.frames:
            text = tail + frame
            tail = frame[-LONGEST_MARK:]
            # Whatever stands before the newest known marker was read in an earlier frame.
            start = max(text.rfind(f"q{len(seen) - 1}t"), 0) if seen else 0
            for found in MARK.finditer(text, start):
                number = int(found[1])
                received = int(found[3]) if found[3] and received is None else received
                sent.setdefault(number, int(found[2]))
                for fresh in range(len(seen), number + 1):
                    seen[fresh] = at
        return sent, seen, received


def summary(answers: list[Heard]) -> dict[str, Any]:
    """The figures of answers that ran side by side or one after the other; milliseconds, medians and 99th percentiles."""
    told = [answer.figures() for answer in answers]
    good = [each for each in told if "added" in each]
    added = [value for each in good for value in each["added"]]
    deltas = sum(each["deltas"] for each in told)
    upstream, over = median(each["upstream"] for each in good), median(each["over"] for each in good)
    return {
        "answers": len(told),
        "complete": sum(each["complete"] for each in told),
        "errors": sorted({each["error"] for each in told if each["error"]})[:3],
        "deltas": deltas,
        "first_p50": quantile((each["first"] for each in good), 0.5),
        "first_p99": quantile((each["first"] for each in good), 0.99),
        "asked_p50": quantile((each["asked"] for each in good), 0.5),
        "added_p50": quantile(added, 0.5),
        "added_p99": quantile(added, 0.99),
        "overrun": 100 * over / upstream if upstream else float("nan"),
        "frames_per_delta": sum(each["frames"] for each in told) / max(deltas, 1),
        "chars_per_delta": sum(each["chars"] for each in told) / max(deltas, 1),
    }
