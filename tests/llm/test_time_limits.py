"""Every wait has its own limit, and what was said until then is kept."""

from dataclasses import replace

import pytest

from assistants.llm.profile import TimeLimits
from tests.kit.stub_llm import StubLLM, delta, never, raw, say, sleep
from tests.kit.waiting import until
from tests.llm.asking import RecordingSink, ask, ask_in_vain

PATIENT = TimeLimits(connect=60, first_token=60, idle=60, total=120)
BEGIN_SOON = replace(PATIENT, first_token=0.6)
GO_ON_SOON = replace(PATIENT, idle=0.6)
LATE = sleep(120)


@pytest.mark.parametrize(
    ("limits", "steps", "code", "partial"),
    [
        (BEGIN_SOON, [never()], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        (BEGIN_SOON, [delta(role="assistant", content=""), LATE], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        (BEGIN_SOON, [LATE, say("x")], "MODEL_TIMEOUT_FIRST_TOKEN", ""),
        (GO_ON_SOON, [say("a"), LATE, say("b")], "MODEL_TIMEOUT_IDLE", "a"),
        (GO_ON_SOON, [delta(reasoning="hm"), LATE], "MODEL_TIMEOUT_IDLE", ""),
    ],
)
def test_f19_silence_has_a_limit_before_and_between_tokens(
    llm: StubLLM, limits: TimeLimits, steps: list, code: str, partial: str
) -> None:
    llm.script(steps)

    error = ask_in_vain(llm.profile(limits=limits))

    assert (error.code, error.partial, error.retryable) == (code, partial, True)


def test_f19_a_drip_is_ended_by_the_total_limit(llm: StubLLM) -> None:
    llm.script([say("x", n=2000, delay=0.05)])

    error = ask_in_vain(llm.profile(limits=replace(PATIENT, total=1.5)))

    assert (error.code, error.retryable) == ("MODEL_TIMEOUT_TOTAL", False)
    assert 2 <= len(error.partial) < 2000


def test_f19_a_drip_within_the_limits_is_read_to_its_end(llm: StubLLM) -> None:
    llm.script([say("x", n=12, delay=0.1)])

    reply = ask(llm.profile(limits=replace(PATIENT, idle=1)))

    assert reply.text == "x" * 12


def test_f19_comments_that_keep_a_connection_alive_are_no_tokens(llm: StubLLM) -> None:
    llm.script([say("a"), *([raw(b": still here\n\n"), sleep(0.05)] * 200), say("b")])

    error = ask_in_vain(llm.profile(limits=GO_ON_SOON))

    assert (error.code, error.partial) == ("MODEL_TIMEOUT_IDLE", "a")


def test_report_s6_a_long_wait_for_the_first_token_ends_with_a_clear_sentence(llm: StubLLM) -> None:
    llm.script([never()])

    error = ask_in_vain(llm.profile(limits=BEGIN_SOON))

    assert error.message == "The model did not begin to answer within 0.6 seconds."
    assert "time limits" in error.fix


def test_report_r7_a_stalled_stream_is_an_error_with_what_was_said(llm: StubLLM) -> None:
    sink = RecordingSink()
    llm.script([say("partly"), never()])

    error = ask_in_vain(llm.profile(limits=GO_ON_SOON), sink=sink)

    assert (error.code, error.partial, sink.text) == ("MODEL_TIMEOUT_IDLE", "partly", ["partly"])


def test_a_limit_closes_the_connection_too(llm: StubLLM) -> None:
    llm.script([say("a"), never()])

    ask_in_vain(llm.profile(limits=GO_ON_SOON))

    until(lambda: llm.requests[0].disconnected_at)


def test_report_s7_without_streaming_only_the_total_limit_counts(llm: StubLLM) -> None:
    llm.script([sleep(0.5), say("slow but whole")], [never()])

    reply = ask(llm.profile(streaming=False, limits=replace(PATIENT, first_token=0.1, idle=0.1)))
    error = ask_in_vain(llm.profile(streaming=False, limits=TimeLimits(first_token=0.1, idle=0.1, total=0.3)))

    assert reply.text == "slow but whole"
    assert error.code == "MODEL_TIMEOUT_TOTAL"


def test_report_s8_without_streaming_the_text_is_delivered_once(llm: StubLLM, sink: RecordingSink) -> None:
    llm.script([say("one ", n=3)])

    reply = ask(llm.profile(streaming=False), sink=sink)

    assert llm.requests[0].body.get("stream") in (None, False)
    assert (reply.text, sink.text) == ("one one one ", ["one one one "])
