"""A stream that was cut is never taken for an answer, and a stop closes the provider's connection."""

import time
from concurrent.futures import CancelledError

import pytest

from assistants.llm.loop import submit
from assistants.llm.stream import stream_reply
from tests.kit.stub_llm import StubLLM, call, delta, encode_event, finish, half_close, never, raw, rst, say, sleep
from tests.kit.waiting import until
from tests.llm.asking import ADD, RecordingSink, ask, ask_in_vain, user

CUTS = {"half closed": half_close, "reset": rst, "in mid-chunk": lambda: raw(b'data: {"cho')}


@pytest.mark.parametrize("framing", ["chunked", "close"])
@pytest.mark.parametrize("cut", CUTS)
def test_f20_a_cut_stream_is_no_answer_and_its_calls_are_dropped(framing: str, cut: str) -> None:
    with StubLLM(framing=framing) as llm:
        llm.script([say("some"), call("charge", '{"a":1', "c1"), CUTS[cut]()], [say("ok")])

        error = ask_in_vain(llm.profile())
        reply = ask(llm.profile())

    assert (error.code, error.partial, error.retryable) == ("MODEL_INTERRUPTED", "some", True)
    assert (reply.text, reply.calls) == ("ok", ())


@pytest.mark.parametrize("framing", ["chunked", "close"])
@pytest.mark.parametrize("cut", [half_close, rst])
def test_f20_a_finish_reason_is_enough_without_the_end_mark(framing: str, cut: type) -> None:
    with StubLLM(framing=framing) as llm:
        llm.script([say("all"), finish("stop"), cut()])

        reply = ask(llm.profile())

    assert (reply.text, reply.finish) == ("all", "stop")


def test_f20_a_server_that_stays_silent_after_its_answer_costs_no_answer(llm: StubLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistants.llm.openai_chat.REST_SECONDS", 0.1)
    llm.script([say("all"), finish("stop"), never()])

    reply = ask(llm.profile())

    assert (reply.text, reply.estimated) == ("all", True)


def test_f20_an_unreadable_event_is_a_cut(llm: StubLLM) -> None:
    llm.script([say("a"), raw(b"data: {broken}\n\n"), say("b"), finish("stop")])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.partial) == ("MODEL_INTERRUPTED", "a")


def test_f20_without_arguments_before_the_length_limit_a_call_can_not_run(llm: StubLLM) -> None:
    llm.script([delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "wipe"}}]), finish("length")])

    reply = ask(llm.profile())

    assert (reply.finish, reply.calls[0].arguments) == ("length", "{")


def test_report_r4_without_a_reason_the_end_mark_counts_when_there_is_content(llm: StubLLM) -> None:
    event = encode_event({"choices": [{"delta": {"content": "hi"}}]})
    llm.script([raw(event + b"data: [DONE]\n\n")], [raw(b"data: [DONE]\n\n")])

    reply = ask(llm.profile())
    error = ask_in_vain(llm.profile())

    assert (reply.text, reply.finish) == ("hi", "stop")
    assert error.code == "MODEL_INTERRUPTED"


def test_report_r4_no_role_and_no_end_mark_are_tolerated(llm: StubLLM) -> None:
    whole = encode_event({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
    llm.script([raw(whole)])

    reply = ask(llm.profile())

    assert (reply.text, reply.finish) == ("hi", "stop")


@pytest.mark.parametrize(
    ("steps", "streaming"),
    [([never()], True), ([say("x", n=1000, delay=0.02)], True), ([say("x"), never()], True), ([sleep(5)], False)],
)
def test_report_t1_a_stop_closes_the_providers_connection_within_a_second(llm: StubLLM, steps: list, streaming: bool) -> None:
    llm.script(steps)
    future = submit(stream_reply(llm.profile(streaming=streaming), user("hi"), [], RecordingSink()))
    until(lambda: llm.requests)
    time.sleep(0.1)

    stopped = time.monotonic()
    future.cancel()

    with pytest.raises(CancelledError):
        future.result(60)
    until(lambda: llm.requests[0].disconnected_at is not None)
    # A second is promised; a busy machine gets more, and a reply that was not closed would take twenty.
    assert llm.requests[0].disconnected_at - stopped < 4


def test_t1_nothing_reaches_the_sink_after_a_stop(llm: StubLLM, sink: RecordingSink) -> None:
    llm.script([say("x", n=1000, delay=0.01)])
    future = submit(stream_reply(llm.profile(), user("hi"), [ADD], sink))
    until(lambda: sink.text)

    future.cancel()
    until(lambda: llm.requests[0].disconnected_at is not None)
    said = len(sink.text)
    time.sleep(0.1)

    assert len(sink.text) == said
