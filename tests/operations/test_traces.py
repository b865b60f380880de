"""Traces follow the conventions for generative AI: turns, model calls, tools, and sub-chats in one tree; no content in them."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from assistants.tracing import Tracer
from tests.kit.sealed import call, give
from tests.kit.turns import commit_hooks, last_turn, run_all

CANARY = "canary5521"


@pytest.fixture
def spans(db):
    """Gives everything that was traced, by name."""
    exporter = InMemorySpanExporter()
    tracer = Tracer(exporter)

    def written():
        tracer.provider.force_flush()
        return {span.name: span for span in exporter.get_finished_spans()}

    written.all = lambda: (tracer.provider.force_flush(), exporter.get_finished_spans())[1]
    yield written
    tracer.close()


def test_a_turn_holds_its_model_calls_and_its_tools(ground, spans):
    give(ground.lead, "calculate")
    ground.script([{"calls": [call("calculate", expression="1 + 1")]}, "Two."])

    thread = ground.open("What is one and one?")
    run_all()

    found, turn, model = spans(), last_turn(thread), ground.lead.profile.model
    whole, chat, tool = found["invoke_agent"], found[f"chat {model}"], found["execute_tool calculate"]
    assert len(spans.all()) == 4
    assert whole.parent is None
    assert {span.context.trace_id for span in found.values()} == {whole.context.trace_id}
    assert chat.parent.span_id == tool.parent.span_id == whole.context.span_id
    assert (chat.kind, tool.kind) == (SpanKind.CLIENT, SpanKind.INTERNAL)
    assert dict(chat.attributes) | {"gen_ai.response.time_to_first_chunk": 0} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": model,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": chat.attributes["gen_ai.usage.input_tokens"],
        "gen_ai.usage.output_tokens": chat.attributes["gen_ai.usage.output_tokens"],
        "gen_ai.response.time_to_first_chunk": 0,
        "taskmonkey.turn": turn.pk,
    }
    assert tool.attributes["gen_ai.tool.call.id"] == str(turn.calls.get().pk)
    assert tool.attributes["taskmonkey.outcome"] == "done"
    assert whole.attributes["gen_ai.usage.output_tokens"] == turn.output_tokens
    assert whole.attributes["taskmonkey.turn.state"] == "done"
    assert whole.start_time == int(turn.started.timestamp() * 1e9)


def test_a_sub_chat_stands_under_the_call_that_opened_it(ground, spans):
    stock = ground.assistant("stock", script=["Seven apples."])
    ground.lead.delegates.add(stock)
    ground.script([{"calls": [call("invoke_assistant", assistant="stock", task="Count the apples")]}, "There are seven."])

    ground.open("How many apples?")
    run_all()

    turns = sorted((span for span in spans.all() if span.name == "invoke_agent"), key=lambda span: span.start_time)
    above, below = turns
    tool, chat = spans()["execute_tool invoke_assistant"], spans()[f"chat {stock.profile.model}"]
    assert tool.attributes["taskmonkey.outcome"] == "pending"
    assert tool.parent.span_id == above.context.span_id
    assert below.parent.span_id == tool.context.span_id
    assert chat.parent.span_id == below.context.span_id
    assert {span.context.trace_id for span in spans.all()} == {above.context.trace_id}


def test_what_fails_is_marked_with_its_code(ground, spans):
    ground.script([{"error": "MODEL_AUTH"}])

    ground.open("Hello")
    run_all()

    whole, chat = spans()["invoke_agent"], spans()[f"chat {ground.lead.profile.model}"]
    assert whole.status.status_code is StatusCode.ERROR
    assert chat.status.status_code is StatusCode.ERROR
    assert chat.attributes["error.type"] == whole.attributes["error.type"] == last_turn(ground.lead.threads.get()).reason
    assert (whole.status.description, chat.status.description, chat.events) == (None, None, ())


def test_no_span_holds_what_was_said_or_asked(ground, spans, catcher):
    catcher.declare("note")
    give(ground.lead, "note")
    steps = [{"calls": [call("note", to=CANARY, text=CANARY), call(f"tool_{CANARY}", x=CANARY)]}, f"It is {CANARY}."]
    ground.script(steps)

    ground.open(f"What about {CANARY}?")
    run_all()

    assert len(spans.all()) == 5
    assert [span.to_json() for span in spans.all() if CANARY in span.to_json()] == []


def test_two_conversations_are_two_traces(ground, spans):
    ground.open("One")
    ground.open("Two")
    run_all()

    assert len({span.context.trace_id for span in spans.all()}) == 2


def test_a_trace_is_kept_whole_or_not_at_all(ground):
    exporter = InMemorySpanExporter()
    tracer = Tracer(exporter, ratio=0.5)
    for _ in range(12):
        ground.script(["Hello."])
        ground.open("Hello")
        run_all()
    commit_hooks()
    tracer.close()

    sizes = {}
    for span in exporter.get_finished_spans():
        sizes[span.context.trace_id] = sizes.get(span.context.trace_id, 0) + 1

    assert set(sizes.values()) <= {2}
    assert len(sizes) < 12
