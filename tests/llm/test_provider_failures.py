"""What a provider answers instead of a reply becomes one plain sentence, and says whether trying again makes sense."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from assistants.llm.failures import parse_retry_after
from assistants.llm.hints import safe_hint
from assistants.llm.profile import Profile, TimeLimits
from tests.kit.stub_llm import KEY, StubLLM, finish, raw, say, status
from tests.llm.asking import ask, ask_in_vain

NASTY = '<script>x</script> {"a": 1} key=sk-CANARY-42 Bearer abc.def.ghi'


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2), ("0.5", 0.5), (None, None), ("1000000000", 60), ("-5", 0), ("abc", None), ("nan", None), ("inf", 60)],
)
def test_f17_retry_after_is_read_clamped_or_ignored(llm: StubLLM, header: str | None, seconds: float | None) -> None:
    llm.script([status(429, {"Retry-After": header} if header else {}, body={"error": {"message": "slow down"}})])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable, error.retry_after) == ("MODEL_RATE_LIMITED", True, seconds)


def test_f17_retry_after_may_be_a_date() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)

    soon = parse_retry_after(format_datetime(now + timedelta(seconds=3), usegmt=True), now=now)
    past = parse_retry_after(format_datetime(now - timedelta(hours=3), usegmt=True), now=now)
    far = parse_retry_after(format_datetime(now + timedelta(days=3), usegmt=True), now=now)

    assert (soon, past, far) == (3, 0, 60)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
        {"error": {"message": "Your credit balance is too low"}},
    ],
)
def test_report_r6_a_used_up_quota_is_told_from_a_busy_moment(llm: StubLLM, body: dict) -> None:
    llm.script([status(429, {"Retry-After": "5"}, body=body)])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable, error.retry_after) == ("MODEL_QUOTA", False, None)


def test_report_r6_a_limit_is_a_sentence_and_not_json(llm: StubLLM) -> None:
    llm.script([status(429, body={"error": {"message": '{"type": "rate_limit"}', "type": "requests"}})])

    error = ask_in_vain(llm.profile(label="Our model"))

    assert error.message == "Our model takes no more requests for the moment."
    assert error.fix == "Wait a little, then try again."


@pytest.mark.parametrize("code", [500, 502, 503, 504, 529])
def test_f18_a_fault_of_the_server_may_pass(llm: StubLLM, code: int) -> None:
    llm.script([status(code, body=NASTY)])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable) == ("MODEL_UNAVAILABLE", True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (400, "MODEL_REFUSED"),
        (401, "MODEL_AUTH"),
        (403, "MODEL_AUTH"),
        (404, "MODEL_NOT_FOUND"),
        (413, "MODEL_REFUSED"),
        (422, "MODEL_REFUSED"),
    ],
)
@pytest.mark.parametrize("body", [NASTY, {"error": {"message": NASTY}}, {"error": NASTY}, {"detail": NASTY}, {"message": KEY}])
def test_f18_a_refusal_is_final_and_shows_neither_keys_nor_markup(llm: StubLLM, code: int, expected: str, body: object) -> None:
    llm.script([status(code, body=body), say("never")])

    error = ask_in_vain(llm.profile())

    said = f"{error.message} {error.fix} {error!r}"
    assert (error.code, error.retryable, len(llm.requests)) == (expected, False, 1)
    assert not any(secret in said for secret in ("CANARY", "<script", "abc.def", KEY))
    assert error.__cause__ is None and error.__suppress_context__


def test_f18_the_sdk_tries_nothing_again_by_itself(llm: StubLLM) -> None:
    llm.script_forever([status(503, {"Retry-After": "0", "x-should-retry": "true"})])

    ask_in_vain(llm.profile())

    assert len(llm.requests) == 1


def test_f18_the_next_request_works(llm: StubLLM) -> None:
    llm.script([status(500)], [say("ok")])
    ask_in_vain(llm.profile())

    reply = ask(llm.profile())

    assert reply.text == "ok"


def test_f18_a_short_reason_helps_the_administrator(llm: StubLLM) -> None:
    llm.script([status(400, body={"error": {"message": "this model does not support tools"}})])

    error = ask_in_vain(llm.profile(label="Our model"))

    assert error.message == "Our model refused the request (HTTP 400): this model does not support tools"


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens, however you requested 9000",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Input is too long for requested model.",
    ],
)
def test_report_c2_a_conversation_that_is_too_long_is_recognised(llm: StubLLM, message: str) -> None:
    llm.script([status(400, body={"error": {"message": message}})])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable) == ("MODEL_CONTEXT_TOO_LONG", False)


def test_a_server_that_is_not_there_is_unreachable() -> None:
    profile = Profile("local", "x", base_url="http://127.0.0.1:9/v1", limits=TimeLimits(connect=1))

    error = ask_in_vain(profile)

    assert (error.code, error.retryable) == ("MODEL_UNREACHABLE", True)
    assert error.message == "127.0.0.1 cannot be reached."


def test_a_server_that_hangs_up_without_an_answer_interrupts(llm: StubLLM) -> None:
    async def hang_up(wire) -> None:
        wire.ended = True
        wire.writer.close()

    llm.script([hang_up])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable) == ("MODEL_INTERRUPTED", True)


def test_a_redirect_is_not_followed_with_the_key(llm: StubLLM) -> None:
    llm.script([status(307, {"Location": f"{llm.url}/elsewhere"})], [say("stolen")])

    error = ask_in_vain(llm.profile(label="Our model"))

    assert (error.code, len(llm.requests)) == ("MODEL_REFUSED", 1)
    assert error.message == "Our model refused the request: it sends its callers on to another address"


@pytest.mark.parametrize(
    "url", ["http://[", "no address", "ftp://example.org/v1", "http://", "http://good.example\\@127.0.0.1/"]
)
@pytest.mark.parametrize("provider", ["openai", "local", "anthropic", "google"])
def test_an_impossible_address_is_named_as_such(provider: str, url: str) -> None:
    error = ask_in_vain(Profile(provider, "x", base_url=url, api_key="k"))

    assert (error.code, error.message) == ("MODEL_REFUSED", "The address of the model's server is not valid.")


@pytest.mark.parametrize("key", ["sk-schlüssel", "sk-1\n", "sk-\x00"])
def test_an_impossible_key_is_never_sent(llm: StubLLM, key: str) -> None:
    error = ask_in_vain(llm.profile(api_key=key))

    assert (error.code, error.field, llm.requests) == ("MODEL_AUTH", "api_key", [])
    assert key not in repr(error)


def test_f21_an_error_inside_a_200_counts_as_an_error(llm: StubLLM) -> None:
    body = b'{"error": {"message": "later, sk-CANARY", "code": "rate_limit_exceeded"}}'
    llm.script([raw(body, "application/json")], [say("a"), raw(b"data: " + body + b"\n\n")])

    plain = ask_in_vain(llm.profile())
    in_stream = ask_in_vain(llm.profile())

    assert (plain.code, in_stream.code, in_stream.partial) == ("MODEL_RATE_LIMITED", "MODEL_RATE_LIMITED", "a")
    assert "CANARY" not in plain.message + in_stream.message


def test_report_r7_a_fault_in_mid_stream_is_no_answer(llm: StubLLM) -> None:
    llm.script([say("half"), raw(b'data: {"error": {"message": "oops", "code": 500}}\n\n'), finish("stop")])

    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable, error.partial) == ("MODEL_UNAVAILABLE", True, "half")


def test_a_web_page_instead_of_a_model_is_named_as_such(llm: StubLLM) -> None:
    llm.script([raw(b"\n<!doctype html><title>Hello</title>", "text/html")])

    error = ask_in_vain(llm.profile(label="Our model"))

    assert error.message == "Our model refused the request: it answered with a web page, so the address may be wrong"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
def test_a_missing_key_is_said_before_anything_is_sent(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A-33: a key in the environment of this process belongs to no profile."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "sk-of-the-process")

    error = ask_in_vain(Profile(provider, "x"))

    assert (error.code, error.field) == ("MODEL_AUTH", "api_key")


def test_a33_the_key_of_this_process_is_never_sent_to_a_profiles_address(llm: StubLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-process")
    llm.script([say("ok")])

    ask(llm.profile(api_key=""))

    assert "of-the-process" not in str(llm.requests[0].headers)


def test_a_hint_keeps_words_and_drops_what_may_be_a_key() -> None:
    hint = safe_hint("Bad 'temperature': use 0..2. api_key=abc token: xyz sk-proj-1 " + "Q" * 40 + " <b>bold</b>\nend")

    assert hint == "Bad 'temperature': use 0..2. api_key … token … … … bold end"
