"""Figures for Prometheus: how many, how long, how often it failed; no label names anybody or holds anything said."""

import logging
import os
import secrets
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum

from assistants import clock, telemetry
from assistants.models import Message, Runner, Turn
from assistants.signals import turn_finished
from assistants.telemetry import Facts
from assistants.tools.registry import find_tool

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SHORT = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
LONG = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_meters: "Meters | None" = None


def is_on() -> bool:
    """Whether somebody set a token to read the figures with."""
    return bool(settings.METRICS_TOKEN)


def start() -> None:
    """Begins to count in this process, if it is wanted and `prometheus-client` is installed (a check says so if not)."""
    global _meters
    if not is_on() or _meters is not None:
        return
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        return
    _forget_dead()
    _meters = Meters()


def _forget_dead() -> None:
    """In a shared folder, sockets of processes that were killed would count for ever."""
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        Path(folder).mkdir(parents=True, exist_ok=True)
        pids = {int(path.stem.rpartition("_")[2]) for path in Path(folder).glob("gauge_live*_*.db")}
        for pid in pids:
            if not _lives(pid):
                multiprocess.mark_process_dead(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_allowed(authorization: str) -> bool:
    """Whether this `Authorization` header carries the token."""
    scheme, _, token = authorization.partition(" ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and scheme.lower() == "bearer" and secrets.compare_digest(token.encode(), wanted.encode())


def read() -> bytes | None:
    """Everything counted so far in Prometheus's text format: of this process, or of all that share a folder.

    None where nothing is counted.
    """
    if _meters is None:
        return None
    from prometheus_client import CollectorRegistry, generate_latest, multiprocess

    registry = _meters.registry
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
        registry.register(Standing())
    return generate_latest(registry)


class Standing:
    """What the database says of the work at the moment: the same from every process, so take it from any one."""

    def collect(self) -> Iterable["Metric"]:
        from prometheus_client.core import GaugeMetricFamily

        now = clock.now()
        states = dict(Turn.objects.exclude(state__in=Turn.FINAL).values_list("state").annotate(Count("pk")))
        turns = GaugeMetricFamily("taskmonkey_turns", "Turns that have not ended, by state.", labels=["state"])
        for state in (Turn.State.QUEUED, *Turn.ACTIVE):
            turns.add_metric([state], states.get(state, 0))
        yield turns
        queue = Turn.objects.runnable(now).count()
        yield GaugeMetricFamily("taskmonkey_queue_length", "Turns that could go on and that no process runs.", value=queue)
        alive = Runner.objects.alive(now - timedelta(seconds=settings.TASKMONKEY["LEASE_SECONDS"]))
        sums = alive.aggregate(count=Count("pk"), running=Sum("running"), places=Sum("places"))
        for name, told in (
            ("count", "Processes that run turns."),
            ("running", "Turns they run."),
            ("places", "Turns they could."),
        ):
            yield GaugeMetricFamily(f"taskmonkey_runners_{name}", told, value=sums[name] or 0)


class Meters:
    """The counters and histograms of one process, kept up by what the turn code tells."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry: CollectorRegistry = CollectorRegistry()

        def counter(name: str, told: str, *labels: str) -> Counter:
            return Counter(f"taskmonkey_{name}", told, labels, registry=self.registry)

        def seconds(name: str, told: str, *labels: str, buckets: tuple[float, ...] = SHORT) -> Histogram:
            return Histogram(f"taskmonkey_{name}_seconds", told, labels, registry=self.registry, buckets=buckets)

        self.ended = counter("turns_ended", "Turns that ended, by state and reason.", "state", "reason")
        self.lasted = seconds("turn", "From a turn's start to its end.", "state", buckets=LONG)
        self.first = seconds("first_token", "From the sent message to the first piece of its answer.", buckets=LONG)
        self.calls = counter("model_calls", "Questions to a model, by provider and how they ended.", "provider", "outcome")
        self.asked = seconds("model_call", "How long a model took to answer.", "provider", buckets=LONG)
        self.tokens = counter("tokens", "Tokens of model calls.", "direction")
        self.tools = counter("tool_calls", "Tool calls, by tool and how they ended.", "tool", "outcome")
        self.ran = seconds("tool_call", "How long a tool took.", "tool")
        self.rounds = seconds("engine_round", "Rounds of the engine, such as sweeps.", "name")
        self.found = counter("sweeper_found", "Turns that the sweeper rang for.")
        self.takeovers = counter("takeovers", "Turns taken over from a process that died or lost them.")
        self.errors = counter("errors", "Errors in the log, by the module that wrote them.", "logger")
        self.sockets = Gauge("taskmonkey_sockets", "Open sockets.", registry=self.registry, multiprocess_mode="livesum")
        self.registry.register(Standing())
        self._leave = telemetry.listen(self.hear)
        turn_finished.connect(self.turn_ended)
        self._errors = _Counting(self)
        logging.getLogger().addHandler(self._errors)

    def close(self) -> None:
        """Counts no more."""
        self._leave()
        turn_finished.disconnect(self.turn_ended)
        logging.getLogger().removeHandler(self._errors)

    def hear(self, what: str, facts: Facts, seconds: float) -> None:
        """Takes in what the turn code tells."""
        {
            "chat": self._chat,
            "tool": self._tool,
            "round": self._round,
            "claimed": self._claimed,
            "sockets": self._sockets,
        }.get(what, _ignore)(facts, seconds)

    def turn_ended(self, turn: Turn, **_: Any) -> None:
        """Counts the turn once its end is stored for good."""
        lasted = (turn.finished - (turn.started or turn.created)).total_seconds() if turn.finished else 0.0
        state, reason = str(turn.state), turn.reason

        def count() -> None:
            self.ended.labels(state, reason).inc()
            self.lasted.labels(state).observe(lasted)

        transaction.on_commit(count, robust=True)

    def _chat(self, facts: Facts, seconds: float) -> None:
        self.calls.labels(facts["provider"], facts.get("error") or "ok").inc()
        self.asked.labels(facts["provider"]).observe(seconds)
        self.tokens.labels("input").inc(facts.get("input_tokens", 0))
        self.tokens.labels("output").inc(facts.get("output_tokens", 0))
        if facts.get("first") and (waited := _since_sent(facts["turn"], facts["first"])) is not None:
            self.first.observe(waited)

    def _tool(self, facts: Facts, seconds: float) -> None:
        # A model can ask for any name; only those that exist are told.
        tool = facts["name"] if find_tool(facts["name"]) else "unknown"
        self.tools.labels(tool, facts.get("error") or facts.get("code") or facts.get("outcome", "")).inc()
        self.ran.labels(tool).observe(seconds)

    def _round(self, facts: Facts, seconds: float) -> None:
        self.rounds.labels(facts["name"]).observe(seconds)
        if facts["name"] == "sweeper":
            self.found.inc(facts.get("count") or 0)

    def _claimed(self, facts: Facts, seconds: float) -> None:
        if facts["taken_over"]:
            self.takeovers.inc()

    def _sockets(self, facts: Facts, seconds: float) -> None:
        self.sockets.set(facts["open"])


class _Counting(logging.Handler):
    def __init__(self, meters: Meters) -> None:
        super().__init__(logging.ERROR)
        self.meters = meters

    def emit(self, record: logging.LogRecord) -> None:
        self.meters.errors.labels(record.name).inc()


def _ignore(facts: Facts, seconds: float) -> None:
    pass


def _since_sent(turn_id: int, first: float) -> float | None:
    """Seconds between the message and the first delta that answered it; None if an earlier reply of the turn had words."""
    spoken = Message.objects.filter(turn=turn_id, role=Message.Role.ASSISTANT, state=Message.State.COMPLETE).exclude(parts=[])
    asked = Turn.objects.filter(pk=turn_id).values_list("user_message__created", "created").first()
    if asked is None or spoken.exists():
        return None
    now, ago = clock.now(), clock.monotonic() - first
    return max((now - (asked[0] or asked[1])).total_seconds() - ago, 0.0)
