"""Every wait has its own limit, and what was said until then is kept."""

import time

import pytest

from assistants.llm.profile import TimeLimits
from tests.kit.stub_llm import StubLLM, delta, never, raw, say, sleep
from tests.llm.asking import RecordingSink, ask, ask_in_vain

SHORT = TimeLimits(connect=5, first_token=0.6, idle=0.6, total=10)


@pytest.mark.parametrize(
    ("steps", "code", "partial"),
    [
        ([never()], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        ([delta(role="assistant", content=""), sleep(3)], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        ([sleep(3), say("x")], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        ([say("a"), sleep(3), say("b")], "MODEL_TIMEOUT_IDLE", "a"),
        ([delta(reasoning="hm"), sleep(3)], "MODEL_TIMEOUT_IDLE", ""),
    ],
)
def test_f19_silence_has_a_limit_before_and_between_tokens(llm: StubLLM, steps: list, code: str, partial: str) -> None:
    llm.script(steps)
    begun = time.monotonic()

    error = ask_in_vain(llm.profile(limits=SHORT))

    assert (error.code, error.partial, error.retryable) == (code, partial, True)
    assert time.monotonic() - begun < 3


def test_f19_a_drip_is_ended_by_the_total_limit(llm: StubLLM) -> None:
    llm.script([say("x", n=50, delay=0.05)])

    error = ask_in_vain(llm.profile(limits=TimeLimits(first_token=5, idle=5, total=1.5)))

    assert (error.code, error.retryable) == ("MODEL_TIMEOUT_TOTAL", False)
    assert 2 <= len(error.partial) < 50


def test_f19_a_drip_within_the_limits_is_read_to_its_end(llm: StubLLM) -> None:
    llm.script([say("x", n=8, delay=0.06)])

    reply = ask(llm.profile(limits=SHORT))

    assert reply.text == "x" * 8


def test_f19_comments_that_keep_a_connection_alive_are_no_tokens(llm: StubLLM) -> None:
    llm.script([say("a"), *([raw(b": still here\n\n"), sleep(0.05)] * 20), say("b")])

    error = ask_in_vain(llm.profile(limits=SHORT))

    assert (error.code, error.partial) == ("MODEL_TIMEOUT_IDLE", "a")


def test_report_s6_a_long_wait_for_the_first_token_ends_with_a_clear_sentence(llm: StubLLM) -> None:
    llm.script([never()])

    error = ask_in_vain(llm.profile(limits=SHORT))

    assert error.message == "The model did not begin to answer within 0.6 seconds."
    assert "time limits" in error.fix


def test_report_r7_a_stalled_stream_is_an_error_with_what_was_said(llm: StubLLM) -> None:
    sink = RecordingSink()
    llm.script([say("partly"), never()])

    error = ask_in_vain(llm.profile(limits=SHORT), sink=sink)

    assert (error.code, error.partial, sink.text) == ("MODEL_TIMEOUT_IDLE", "partly", ["partly"])


def test_a_limit_closes_the_connection_too(llm: StubLLM) -> None:
    llm.script([say("a"), never()])

    ask_in_vain(llm.profile(limits=SHORT))

    _wait_until_left(llm)


def test_report_s7_without_streaming_only_the_total_limit_counts(llm: StubLLM) -> None:
    llm.script([sleep(0.5), say("slow but whole")], [never()])

    reply = ask(llm.profile(streaming=False, limits=SHORT))
    error = ask_in_vain(llm.profile(streaming=False, limits=TimeLimits(first_token=0.1, idle=0.1, total=0.3)))

    assert reply.text == "slow but whole"
    assert error.code == "MODEL_TIMEOUT_TOTAL"


def test_report_s8_without_streaming_the_text_is_delivered_once(llm: StubLLM, sink: RecordingSink) -> None:
    llm.script([say("one ", n=3)])

    reply = ask(llm.profile(streaming=False), sink=sink)

    assert llm.requests[0].body.get("stream") in (None, False)
    assert (reply.text, sink.text) == ("one one one ", ["one one one "])


def _wait_until_left(llm: StubLLM) -> None:
    deadline = time.monotonic() + 1
    while llm.requests[0].disconnected_at is None:
        assert time.monotonic() < deadline, "the connection is still open"
        time.sleep(0.01)
