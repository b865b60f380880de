"""Anthropic and Google through the same door, each by its own SDK against a server that answers in its dialect."""

import json

import pytest

from assistants.llm.loop import submit
from assistants.llm.models import build_model, warm_up
from assistants.llm.profile import Profile, TimeLimits
from assistants.llm.stream import stream_reply
from tests.kit.stub_llm import KEY, StubLLM, encode_event, never, raw, status
from tests.kit.waiting import until
from tests.llm.asking import ADD, RecordingSink, ask, ask_in_vain, user

LIMITS = TimeLimits(connect=1, first_token=2, idle=0.3, total=5)


def anthropic_event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def anthropic_begin() -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None}
    usage = {"input_tokens": 10, "output_tokens": 1}
    return anthropic_event("message_start", message={**message, "stop_sequence": None, "usage": usage})


def anthropic_block(index: int, block: dict, *deltas: dict) -> bytes:
    begin = anthropic_event("content_block_start", index=index, content_block=block)
    pieces = b"".join(anthropic_event("content_block_delta", index=index, delta=delta) for delta in deltas)
    return begin + pieces + anthropic_event("content_block_stop", index=index)


def anthropic_text(*pieces: str) -> bytes:
    return anthropic_block(0, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def anthropic_end(reason: str) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return anthropic_event("message_delta", delta=delta, usage={"output_tokens": 20}) + anthropic_event("message_stop")


def google_event(*parts: dict, finish: str | None = None) -> bytes:
    candidate = {"content": {"role": "model", "parts": list(parts)}, **({"finishReason": finish} if finish else {})}
    counts = {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30}
    return encode_event({"candidates": [candidate], "usageMetadata": counts})


def profile_of(provider: str, llm: StubLLM, **changes: object) -> Profile:
    values = {"limits": LIMITS, "api_key": KEY, "base_url": f"http://127.0.0.1:{llm.port}", "label": "Our model", **changes}
    return Profile(provider, {"anthropic": "claude-haiku-4-5", "google": "gemini-2.5-flash"}[provider], **values)  # type: ignore[arg-type]


def test_anthropic_streams_text_thoughts_and_calls(llm: StubLLM, sink: RecordingSink) -> None:
    thought = anthropic_block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "hm"}
    )
    text = anthropic_text("Let ", "me\x00.").replace(b'"index": 0', b'"index": 1')
    tool = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
    call = anthropic_block(2, tool, *({"type": "input_json_delta", "partial_json": piece} for piece in ('{"a"', ": 1}")))
    llm.script([raw(anthropic_begin() + thought + text + call + anthropic_end("tool_use"))])

    reply = ask(profile_of("anthropic", llm), tools=[ADD], sink=sink)

    assert (reply.text, sink.text, reply.reasoning, reply.finish) == ("Let me.", ["Let ", "me."], "hm", "tool_calls")
    assert [(one.provider_id, one.name, one.arguments) for one in reply.calls] == [("toolu_1", "add", '{"a": 1}')]
    assert (reply.input_tokens, reply.output_tokens, reply.estimated) == (10, 20, False)
    assert KEY in str(llm.requests[0].headers)


def test_google_streams_text_and_calls(llm: StubLLM, sink: RecordingSink) -> None:
    call = {"functionCall": {"name": "add", "args": {"a": 1}}}
    llm.script([raw(google_event({"text": "Let "}) + google_event({"text": "me."}) + google_event(call, finish="STOP"))])

    reply = ask(profile_of("google", llm), tools=[ADD], sink=sink)

    assert (reply.text, sink.text, reply.finish) == ("Let me.", ["Let ", "me."], "tool_calls")
    assert [(one.name, json.loads(one.arguments)) for one in reply.calls] == [("add", {"a": 1})]
    assert (reply.input_tokens, reply.output_tokens) == (10, 20)


@pytest.mark.parametrize(
    ("provider", "begin"),
    [("anthropic", anthropic_begin() + anthropic_text("half")), ("google", google_event({"text": "half"}))],
)
def test_f20_a_stream_without_an_end_is_interrupted_for_every_provider(llm: StubLLM, provider: str, begin: bytes) -> None:
    llm.script([raw(begin)])

    error = ask_in_vain(profile_of(provider, llm))

    assert (error.code, error.partial) == ("MODEL_INTERRUPTED", "half")


@pytest.mark.parametrize(
    ("provider", "begin"),
    [("anthropic", anthropic_begin() + anthropic_text("half")), ("google", google_event({"text": "half"}))],
)
def test_t1_a_stop_and_a_limit_close_every_providers_connection(llm: StubLLM, provider: str, begin: bytes) -> None:
    llm.script([raw(begin), never()], [raw(begin), never()])
    sink = RecordingSink()

    error = ask_in_vain(profile_of(provider, llm))
    future = submit(stream_reply(profile_of(provider, llm), user("hi"), [], sink))
    until(lambda: sink.text)
    future.cancel()

    assert error.code == "MODEL_TIMEOUT_IDLE"
    until(lambda: all(request.disconnected_at for request in llm.requests) and len(llm.requests) == 2)


@pytest.mark.parametrize("provider", ["anthropic", "google"])
@pytest.mark.parametrize(
    ("code", "expected", "retryable"),
    [
        (400, "MODEL_REFUSED", False),
        (401, "MODEL_AUTH", False),
        (403, "MODEL_AUTH", False),
        (404, "MODEL_NOT_FOUND", False),
        (429, "MODEL_RATE_LIMITED", True),
        (500, "MODEL_UNAVAILABLE", True),
        (503, "MODEL_UNAVAILABLE", True),
    ],
)
def test_f18_every_providers_errors_become_the_same_sentences(
    llm: StubLLM, provider: str, code: int, expected: str, retryable: bool
) -> None:
    statuses = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
    }
    body = {"error": {"code": code, "status": statuses[code], "type": "x_error", "message": "<b>no</b> key=sk-CANARY-7"}}
    llm.script([status(code, {"Retry-After": "7"}, body=body)])

    error = ask_in_vain(profile_of(provider, llm))

    assert (error.code, error.retryable, len(llm.requests)) == (expected, retryable, 1)
    assert error.retry_after == (7 if retryable else None)
    assert "CANARY" not in repr(error) and "<b>" not in repr(error)
    assert error.message.startswith("Our model ")


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_report_s8_every_provider_can_answer_in_one_piece(llm: StubLLM, provider: str, sink: RecordingSink) -> None:
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "stop_reason": "end_turn",
        "stop_sequence": None,
    }
    anthropic = {**message, "content": [{"type": "text", "text": "whole"}], "usage": {"input_tokens": 1, "output_tokens": 2}}
    google = json.loads(google_event({"text": "whole"}, finish="STOP")[6:])
    llm.script([raw(json.dumps({"anthropic": anthropic, "google": google}[provider]).encode(), "application/json")])

    reply = ask(profile_of(provider, llm, streaming=False), sink=sink)

    assert (reply.text, sink.text, reply.finish) == ("whole", ["whole"], "stop")


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_f21_garbage_is_an_error_and_no_crash(llm: StubLLM, provider: str) -> None:
    llm.script([raw(b"data: {broken\n\ndata: \xff\xfe\n\n")], [raw(b"<html>sk-CANARY</html>", "text/html")])

    errors = [ask_in_vain(profile_of(provider, llm)) for _ in range(2)]

    assert {error.code for error in errors} <= {"MODEL_INTERRUPTED", "MODEL_UNAVAILABLE", "MODEL_REFUSED"}
    assert "CANARY" not in repr(errors)


def test_equal_profiles_share_one_model_and_unknown_providers_are_refused() -> None:
    one, other = (
        Profile("local", "x", base_url="http://127.0.0.1:1/v1"),
        Profile("local", "x", base_url="http://127.0.0.1:1/v1"),
    )

    assert build_model(one) is build_model(other)
    assert ask_in_vain(Profile("telepathy", "x")).code == "MODEL_REFUSED"
    assert ask_in_vain(Profile("local", "x")).message == "A local model needs the address of its server."


def test_warming_up_passes_over_what_it_does_not_know() -> None:
    warm_up(["openai", "telepathy"])
