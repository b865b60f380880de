"""The long form: `python -m tests.faults --minutes 12` kills and measures for so long, and writes docs/promises.md."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import argparse  # noqa: E402
import random  # noqa: E402
import shlex  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

import django  # noqa: E402

django.setup()

from tests.faults import kills, measures  # noqa: E402
from tests.faults.cluster import Cluster  # noqa: E402
from tests.faults.ground import Ground, open_ground  # noqa: E402
from tests.faults.nursery import ROOT  # noqa: E402
from tests.faults.stores import why_no_services  # noqa: E402
from tests.faults.tally import Tally, write  # noqa: E402


def main() -> int:
    """Gives 1 if anything was violated. With `--only P9` one promise is measured anew, without kills."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="for the kill runs, all profiles together (default 60)")
    parser.add_argument("--repeat", type=int, default=5, help="how often each other measure is taken (default 5)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", choices=measures.promises(), help="one promise's row of the page, without kills")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "promises.md")
    chosen = parser.parse_args()
    started, tally = time.monotonic(), Tally()
    print(f"seed {chosen.seed}", flush=True)
    profiles = ["embedded"] + ([] if (missing := why_no_services()) else ["full"])
    print(missing, end="")
    command = f"make faults MINUTES={chosen.minutes:g} REPEAT={chosen.repeat} SEED={chosen.seed}"
    if chosen.only:
        return _amend(chosen.page, chosen.only, profiles, tally, chosen.repeat)
    measures.measure_renderer(tally)
    with open_ground() as ground:
        for profile in profiles:
            _kill(ground, profile, tally, 60 * chosen.minutes / len(profiles), random.Random(chosen.seed))
            write(chosen.page, tally.page(command=command, seconds=time.monotonic() - started, load=os.getloadavg()[0]))
            _measure(ground, profile, tally, chosen.repeat)
            write(chosen.page, tally.page(command=command, seconds=time.monotonic() - started, load=os.getloadavg()[0]))
    return 1 if tally.violations else 0


def _amend(page: Path, promise: str, profiles: list[str], tally: Tally, repeat: int) -> int:
    with open_ground() as ground:
        for profile in profiles:
            _measure(ground, profile, tally, repeat, only=promise)
    write(page, tally.amend(page.read_text(), promise, command=f"make faults ONLY={promise} REPEAT={repeat}"))
    return 1 if tally.violations else 0


def _kill(ground: Ground, profile: str, tally: Tally, seconds: float, dice: random.Random) -> None:
    """Runs through all points and moments, again and again, until the time is up."""
    cluster, end = ground.build(profile), time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            for kind, what in kills.schedule(profile, dice):
                if time.monotonic() > end:
                    return
                run = partial(kills.run_at_point if kind == "point" else kills.run_at_moment, what=what, dice=dice)
                cluster = _try(ground, cluster, tally, "P3", what, lambda c, run=run: run(c, ground.llm, tally))
    finally:
        cluster.remove()


def _measure(ground: Ground, profile: str, tally: Tally, repeat: int, only: str = "") -> None:
    for measure in measures.of(profile, only):
        cluster = ground.build(profile, **measures.OPTIONS.get(measure.__name__, {}))
        try:
            for _ in range(repeat):
                promise = measures.promise_of(measure)
                cluster = _try(ground, cluster, tally, promise, measure.__name__, lambda c, m=measure: m(c, ground.llm, tally))
        finally:
            cluster.remove()


def _try(ground: Ground, cluster: Cluster, tally: Tally, promise: str, what: str, work: Callable[[Cluster], None]) -> Cluster:
    """Does it on a cluster without conversations; one that is found wrong is replaced, and its log is kept."""
    ground.llm.clear()
    began = time.monotonic()
    try:
        cluster.renew()
        work(cluster)
        print(f"{cluster.profile:9} {what:24} {time.monotonic() - began:5.1f} s", flush=True)
    except Exception as error:
        traceback.print_exc()
        tally.violate(promise, f"{cluster.profile}, {what}: {type(error).__name__}: {str(error)[:300]}")
        kept = Path(f"/tmp/taskmonkey-violation-{len(tally.violations)}-{time.time():.0f}.log")
        kept.write_bytes(cluster.log.read_bytes())
        options = {"times": cluster.times, **cluster.more}
        profile = cluster.profile
        cluster.remove()
        return ground.build(profile, **options)
    return cluster


if __name__ == "__main__":
    print(shlex.join(sys.argv[1:]))
    sys.exit(main())
