"""A reply of any size is cut while it is read, not after."""

import tracemalloc

import pytest

from assistants.llm.assembly import CUT_ARGUMENTS, MAX_ARGUMENT_CHARS, MAX_CALLS, MAX_TEXT_CHARS
from tests.kit.stub_llm import StubLLM, call, delta, raw, say, status
from tests.llm.asking import RecordingSink, ask, ask_in_vain

BLOCK = "x" * 65_536
MEGABYTE = 1024 * 1024


def test_f23_text_is_cut_while_it_is_read(llm: StubLLM, sink: RecordingSink) -> None:
    llm.script([say(BLOCK, n=1600)])

    reply = ask(llm.profile(), sink=sink)

    assert (len(reply.text), reply.finish, reply.estimated) == (MAX_TEXT_CHARS, "length", True)
    assert "".join(sink.text) == reply.text
    assert llm.requests[0].ended_at is None


def test_f23_reasoning_is_cut_as_well(llm: StubLLM) -> None:
    llm.script([delta(times=1600, reasoning=BLOCK)])

    reply = ask(llm.profile())

    assert (len(reply.reasoning), reply.finish) == (MAX_TEXT_CHARS, "length")


def test_f23_fifty_megabytes_of_arguments_are_cut_at_one(llm: StubLLM) -> None:
    begin = delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a": "'}}])
    llm.script([begin, delta(times=800, tool_calls=[{"index": 0, "function": {"arguments": BLOCK}}])])

    reply = ask(llm.profile())

    assert (len(reply.calls[0].arguments), reply.finish) == (MAX_ARGUMENT_CHARS, "length")
    assert llm.requests[0].ended_at is None


@pytest.mark.parametrize("named", [True, False])
def test_f23_one_event_of_fifty_megabytes_is_never_held(llm: StubLLM, named: bool) -> None:
    begin = delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}}])
    endless = raw(b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"')
    llm.script([*([begin] if named else []), endless, *([raw(BLOCK.encode())] * 800)])
    tracemalloc.start()

    reply = ask(llm.profile())

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reply.finish == "length"
    assert [one.arguments for one in reply.calls] == ([CUT_ARGUMENTS] if named else [])
    assert peak < 64 * MEGABYTE


def test_f23_very_many_deltas_make_one_text(llm: StubLLM) -> None:
    class Counting(RecordingSink):
        def on_text(self, delta: str) -> None:
            self.text[:] = [str(int((self.text or ["0"])[0]) + len(delta))]

    sink = Counting()
    llm.script([say("ü", n=30_000)])

    reply = ask(llm.profile(), sink=sink)

    assert (len(reply.text), reply.finish, sink.text) == (30_000, "stop", ["30000"])


def test_f23_five_hundred_calls_become_thirty_two(llm: StubLLM) -> None:
    llm.script([call("add", {"a": number}) for number in range(500)])

    reply = ask(llm.profile())

    assert (len(reply.calls), reply.finish) == (MAX_CALLS, "length")
    assert [one.arguments for one in reply.calls][-1] == '{"a": 31}'


def test_f23_a_reply_in_one_piece_is_bounded_too(llm: StubLLM) -> None:
    llm.script([say(BLOCK * 40)], [raw(BLOCK.encode(), "application/json")] * 300)

    cut = ask(llm.profile(streaming=False))
    refused = ask_in_vain(llm.profile(streaming=False))

    assert (len(cut.text), cut.finish) == (MAX_TEXT_CHARS, "length")
    assert (refused.code, refused.message) == (
        "MODEL_REFUSED",
        "127.0.0.1 refused the request: it sent more than any answer can be",
    )


def test_f23_an_endless_error_page_is_not_read_to_its_end(llm: StubLLM) -> None:
    llm.script([status(500, body="x" * (40 * MEGABYTE))])

    error = ask_in_vain(llm.profile())

    assert error.code in {"MODEL_REFUSED", "MODEL_UNAVAILABLE"}
    assert len(error.message) < 300
