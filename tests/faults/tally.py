"""What was measured of each promise, and the page that says so."""

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

PROMISES = {
    "P1": ("An accepted send is never lost", "0 of 10,000, over 1,000 kills"),
    "P2": ("A send is never doubled", "50 parallel resends make 1 message and 1 turn"),
    "P3": ("`kill -9` of any process at any of the 16 points", "0 violations in 1,440 runs"),
    "P4": ("Time to carry on", "embedded 5 s at p95, 10 s at most, after the start; full 15 s and 30 s after the death"),
    "P5": ("Reconnecting", "10,000 missed events in 2 s, no doubles, no holes"),
    "P6": ("Half-written answers", "a new attempt replaces the old one, never appended"),
    "P7": ("Effects of tools", "`once` at most once; unknown outcomes shown as such"),
    "P8": ("Sub-agents", "0 orphans, 0 double results; a stop reaches the lowest level in 2 s"),
    "P9": ("A slow reader hurts only itself", "bounded memory; it is let go and catches up"),
    "P10": ("Redis gone", "0 lost; events on the page in 5 s; used again within 15 s"),
    "P11": ("Access taken away", "sockets end within 5 s"),
    "P12": ("Clocks wrong by up to an hour", "no early take-over, no change of order"),
    "P13": ("Renderer", "100 ms for 100 KB of usual text; 2 s for any megabyte"),
    "P14": ("Restart under load", "0 failed turns; pages are back in 3 s"),
    "P15": ("Budget", "no tree spends more than its cap and one model call"),
}


# Seconds that the longest time of each kind may take, and how many there should be.
LONGEST = {
    ("P4", "embedded, as"): 10,
    ("P4", "full, as"): 30,
    ("P5", "10,000"): 2,
    ("P8", "stop"): 2,
    ("P10", "to the page"): 5,
    ("P11", "to the end of the socket"): 5,
    ("P13", "100 KB of"): 0.1,
    ("P13", "1 MB"): 2,
    ("P14", "from"): 20,
}
BEHIND, BROKEN = "## Not reached in this run", "## Violations"
ENOUGH = {("P1", "sends"): 10_000, ("P3", "kills"): 1_440}


@dataclass
class Tally:
    """Counts, seconds and bytes by promise. A violation is a sentence; there should be none."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    times: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    sizes: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    violations: dict[str, list[str]] = field(default_factory=dict)

    def count(self, promise: str, what: str, number: int = 1) -> None:
        counts = self.counts.setdefault(promise, {})
        counts[what] = counts.get(what, 0) + number

    def time(self, promise: str, what: str, seconds: float) -> None:
        self.times.setdefault(promise, {}).setdefault(what, []).append(seconds)

    def size(self, promise: str, what: str, number: int) -> None:
        self.sizes.setdefault(promise, {}).setdefault(what, []).append(number / 1024**2)

    def violate(self, promise: str, what: str) -> None:
        self.violations.setdefault(promise, []).append(what)
        print(f"  VIOLATION {promise}: {what}", flush=True)

    def lines(self, promise: str) -> str:
        """What is known of one promise, in half sentences."""
        said = [f"{number:,} {what}" for what, number in self.counts.get(promise, {}).items()]
        said += [describe(what, values) for what, values in self.times.get(promise, {}).items()]
        said += [describe(what, values, "MB") for what, values in self.sizes.get(promise, {}).items()]
        broken = self.violations.get(promise, [])
        if said or broken:
            said.append(f"**{len(broken)} violation{'s' * (len(broken) > 1)}**" if broken else "0 violations")
        return "; ".join(said) or "not measured in this run"

    def not_reached(self) -> list[str]:
        """Where this run stays behind what is to be reached: too slow, too few, or not looked at."""
        found = []
        for (name, start), limit in LONGEST.items():
            for what, values in self.times.get(name, {}).items():
                if what.startswith(start) and max(values) > limit:
                    found.append(f"- {name}: {what.rstrip(':')} took up to {max(values):.2f} s instead of {limit} s.")
        for (name, start), wanted in ENOUGH.items():
            number = sum(number for what, number in self.counts.get(name, {}).items() if what.startswith(start))
            if number < wanted:
                found.append(f"- {name}: {number:,} instead of {wanted:,}; a longer run tells more.")
        known = self.counts.keys() | self.times.keys() | self.sizes.keys() | self.violations.keys()
        return found + [f"- {name}: not measured here." for name in PROMISES if name not in known]

    def page(self, *, command: str, seconds: float, load: float) -> str:
        """The whole page, as Markdown."""
        head = [
            "# What is promised, and what was measured",
            "",
            f"Written on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by `{command}`, which took {seconds / 60:.0f} minutes on"
            f" {platform.system()} with Python {platform.python_version()} (load {load:.1f} at the end). “0 of N” is no more"
            " than that: with 0 of N, the true rate is below 3/N with 95 % certainty.",
            "",
            "Kill runs use a heartbeat of 0.5 s and a lease of 2 s; the times of P4 marked “as shipped” use 3 s and 10 s.",
            "Servers are forks of a process with their libraries loaded, so starts are quicker here than from a shell. “0"
            " violations” says that nothing was lost, doubled or out of order, not that a time was kept.",
            "",
            "| | promise | to reach | measured |",
            "|---|---|---|---|",
        ]
        rows = [self._row(name) for name in PROMISES]
        lines = _put_below([*head, *rows], BEHIND, self.not_reached())
        return "\n".join([*_put_below(lines, BROKEN, self._broken()), ""])

    def amend(self, page: str, name: str, *, command: str) -> str:
        """A page of an earlier run with the row of one promise measured anew, and how."""
        lines = [line for line in page.splitlines() if not line.startswith(f"- {name}:")]
        where = next(place for place, line in enumerate(lines) if line.startswith(f"| {name} |"))
        lines[where] = self._row(name, f" (measured on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by `{command}`)")
        lines = _put_below(lines, BEHIND, [line for line in self.not_reached() if line.startswith(f"- {name}:")])
        return "\n".join([*_put_below(lines, BROKEN, self._broken()), ""])

    def _broken(self) -> list[str]:
        return [f"- {name}: **{what}**" for name, found in self.violations.items() for what in found]

    def _row(self, name: str, how: str = "") -> str:
        what, number = PROMISES[name]
        return f"| {name} | {what} | {number} | {self.lines(name)}{how} |"


def _put_below(lines: list[str], heading: str, found: list[str]) -> list[str]:
    """The lines with those that were found first beneath the heading, which is made at the end if there is none yet."""
    if not found:
        return lines
    if heading not in lines:
        return [*lines, "", heading, "", *found]
    place = lines.index(heading) + 2
    return [*lines[:place], *found, *lines[place:]]


def describe(what: str, values: list[float], unit: str = "s") -> str:
    """Times or sizes as p50, p95 and the longest or largest."""
    ordered = sorted(values)
    at = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in (0.5, 0.95)]
    if len(ordered) == 1:
        return f"{what} {ordered[0]:.2f} {unit}"
    most = "longest" if unit == "s" else "largest"
    return f"{what} p50 {at[0]:.2f} {unit}, p95 {at[1]:.2f} {unit}, {most} {ordered[-1]:.2f} {unit} (N = {len(ordered)})"


def write(path: Path, page: str) -> None:
    path.write_text(page)
    print(f"\nwrote {path}")
