"""Traces for OpenTelemetry in its conventions for generative AI: turns, their model calls, tools and sub-chats; no content."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from assistants import telemetry
from assistants.models import Turn
from assistants.signals import turn_finished
from assistants.telemetry import Facts
from assistants.tools.registry import find_tool

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.util.types import AttributeValue

PROVIDERS = {"google": "gcp.gemini"}
KNOWN_ROOTS = 10_000
_caller_of: Callable[[Turn], str | None] | None = None
_tracer: "Tracer | None" = None


def use_caller(caller_of: Callable[[Turn], str | None]) -> None:
    """Tells which call the turn of a sub-chat answers; called once, by the app that knows."""
    global _caller_of
    _caller_of = caller_of


def start() -> None:
    """Begins to trace in this process, if it is wanted and the SDK with its OTLP exporter is installed.

    Where to send it is said by the usual variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
    """
    global _tracer
    if not settings.TRACES or _tracer is not None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        return
    _tracer = Tracer(OTLPSpanExporter())


def stop() -> None:
    """Sends what was not sent yet, within two seconds: for a process that is about to end."""
    if _tracer is not None:
        _tracer.provider.force_flush(2000)


class Tracer:
    """Writes spans to an exporter, in batches and on a thread of its own.

    A span is written when what it is about has ended, under an id that follows from the record. So a turn that waits for
    days and is carried on by another process, and a sub-chat's turn, find their place in the trace although nothing is kept
    for it.
    """

    def __init__(self, exporter: "SpanExporter", *, ratio: float | None = None) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

        # Decided by the trace's id alone, so that every process decides alike.
        sampler = TraceIdRatioBased(settings.TRACE_RATIO if ratio is None else ratio)
        resource = Resource.create({"service.name": "taskmonkey"})
        self.provider = TracerProvider(sampler=sampler, id_generator=_given_ids(), resource=resource)
        self.provider.add_span_processor(BatchSpanProcessor(exporter))
        self.tracer = self.provider.get_tracer("taskmonkey")
        self._roots: dict[int, int] = {}
        self._leave = telemetry.listen(self.hear)
        turn_finished.connect(self.turn_ended)

    def close(self) -> None:
        """Sends what is left and traces no more."""
        self._leave()
        turn_finished.disconnect(self.turn_ended)
        self.provider.shutdown()

    def hear(self, what: str, facts: Facts, seconds: float) -> None:
        """Writes a span for a model call or a tool call."""
        if what == "chat":
            self._chat(facts, seconds)
        elif what == "tool":
            self._tool(facts, seconds)

    def turn_ended(self, turn: Turn, **_: Any) -> None:
        """Writes the span of the turn once its end is stored for good: from its start, whatever it waited for in between."""
        caller = _caller_of(turn) if _caller_of and turn.root_id else None
        above = _number("call", caller, 8) if caller else _number("turn", turn.root_id, 8) if turn.root_id else 0
        begun, ended = turn.started or turn.created, turn.finished or turn.created
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": turn.thread.chat_id,
            "gen_ai.agent.id": str(turn.thread.assistant_id or ""),
            "gen_ai.agent.version": str(turn.assistant_version),
            "gen_ai.usage.input_tokens": turn.input_tokens,
            "gen_ai.usage.output_tokens": turn.output_tokens,
            "taskmonkey.turn": turn.pk,
            "taskmonkey.turn.state": str(turn.state),
        }
        if turn.reason:
            attributes["taskmonkey.turn.reason"] = turn.reason
        error = (turn.reason or "failed") if turn.state == Turn.State.FAILED else ""
        root, own = turn.root_id or turn.pk, _number("turn", turn.pk, 8)
        span = (int(begun.timestamp() * 1e9), int(ended.timestamp() * 1e9))

        def write() -> None:
            self._write("invoke_agent", span, attributes, root=root, above=above, own=own, error=error)

        transaction.on_commit(write, robust=True)

    def _chat(self, facts: Facts, seconds: float) -> None:
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(facts["provider"], facts["provider"]),
            "gen_ai.request.model": facts["model"],
            "taskmonkey.turn": facts["turn"],
        }
        if "finish" in facts:
            attributes["gen_ai.response.finish_reasons"] = [facts["finish"]]
            attributes["gen_ai.usage.input_tokens"] = facts["input_tokens"]
            attributes["gen_ai.usage.output_tokens"] = facts["output_tokens"]
        if facts.get("first"):
            attributes["gen_ai.response.time_to_first_chunk"] = max(seconds - (time.monotonic() - facts["first"]), 0.0)
        self._below_turn(f"chat {facts['model']}".strip(), facts, seconds, attributes, client=True)

    def _tool(self, facts: Facts, seconds: float) -> None:
        # A model can ask for any name; only those that exist are told.
        name = facts["name"] if find_tool(facts["name"]) else "unknown"
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": facts["call"],
            "taskmonkey.turn": facts["turn"],
            "taskmonkey.outcome": facts.get("outcome", ""),
        }
        self._below_turn(f"execute_tool {name}", facts, seconds, attributes, own=_number("call", facts["call"], 8))

    def _below_turn(
        self,
        name: str,
        facts: Facts,
        seconds: float,
        attributes: "dict[str, AttributeValue]",
        *,
        own: int = 0,
        client: bool = False,
    ) -> None:
        ended, turn = time.time_ns(), facts["turn"]
        error = facts.get("error") or facts.get("code") or ""
        above, span = _number("turn", turn, 8), (ended - int(seconds * 1e9), ended)
        self._write(name, span, attributes, root=self._root_of(turn), above=above, own=own, error=error, client=client)

    def _root_of(self, turn_id: int) -> int:
        if turn_id not in self._roots:
            if len(self._roots) >= KNOWN_ROOTS:
                self._roots.clear()
            self._roots[turn_id] = Turn.objects.values_list("root_id", flat=True).filter(pk=turn_id).first() or turn_id
        return self._roots[turn_id]

    def _write(
        self,
        name: str,
        span: tuple[int, int],
        attributes: "dict[str, AttributeValue]",
        *,
        root: int,
        above: int,
        own: int,
        error: str,
        client: bool = False,
    ) -> None:
        from opentelemetry import trace

        trace_id = _number("trace", root, 16)
        parent = trace.SpanContext(trace_id, above, is_remote=True, trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED))
        context = trace.set_span_in_context(trace.NonRecordingSpan(parent if above else trace.INVALID_SPAN_CONTEXT))
        if error:
            attributes["error.type"] = error
        token = _ids.set((trace_id, own))
        try:
            kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
            written = self.tracer.start_span(name, context, kind=kind, attributes=attributes, start_time=span[0])
        finally:
            _ids.reset(token)
        if error:
            # Without a description: what an error says may be content.
            written.set_status(trace.StatusCode.ERROR)
        written.end(span[1])


# The trace's id, and the span's if it has to follow from the record.
_ids: ContextVar[tuple[int, int]] = ContextVar("ids")


def _given_ids() -> Any:
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class GivenIds(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            return _ids.get()[0]

        def generate_span_id(self) -> int:
            return _ids.get()[1] or super().generate_span_id()

    return GivenIds()


def _number(kind: str, key: object, size: int) -> int:
    """A number of so many bytes that follows from the record, and tells nothing without the site's secret key."""
    return int.from_bytes(salted_hmac(f"trace {kind}", str(key), algorithm="sha256").digest()[:size]) or 1
