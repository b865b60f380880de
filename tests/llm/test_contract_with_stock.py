"""Our reader of OpenAI-like streams gives what the library's own class gives, wherever that works; we ask as its client."""

import pytest
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from assistants.llm import stream
from assistants.llm.assembly import ReplyInProgress
from assistants.llm.connections import http_client
from assistants.llm.loop import submit
from assistants.llm.models import build_model
from assistants.llm.openai_chat import OpenAIChat
from assistants.llm.reply import ModelError, Reply
from assistants.llm.request import Answer, Call, Result, Results, User
from tests.kit.stub_llm import KEY, StubLLM, call, delta, encode_event, finish, raw, say, usage
from tests.llm.asking import ADD, RecordingSink, user

CRLF = encode_event({"id": "x", "choices": [{"index": 0, "delta": {"content": "a b"}}]}).replace(b"\n", b"\r\n")
ERROR = b'data: {"error": {"message": "no", "code": "rate_limit_exceeded"}}\n\n'
FIXTURES = {
    "text": [say("Hello "), say("wörld 🐒")],
    "a call": [call("add", {"a": 1}, "c1", pieces=4)],
    "text and two calls": [say("Now."), call("add", {"a": 1}, "c1", pieces=3), call("add", {"a": 2}, "c2", pieces=2)],
    "reasoning": [delta(reasoning_content="hm, "), delta(reasoning_content="so"), say("Yes.")],
    "both names of reasoning": [delta(reasoning="hm", reasoning_content="hm"), say("Yes.")],
    "length": [say("and then"), finish("length")],
    "filter": [finish("content_filter")],
    "empty": [finish("stop")],
    "windows line ends": [raw(CRLF), raw(CRLF), finish("stop")],
    "comments": [raw(b": one\n\n: two\n\n"), say("x"), finish("stop")],
}


def reply_of(model: Model, llm: StubLLM) -> Reply:
    async def read() -> Reply:
        reply = ReplyInProgress(RecordingSink())
        ended = await stream._read(model, llm.profile(), user("hi"), [ADD], reply)
        finish_reason = stream._finish(ended)
        return reply.finished(
            finish_reason, input_tokens=ended.input_tokens, output_tokens=ended.output_tokens, estimated=False
        )

    return submit(read()).result(60)


def stock_model(llm: StubLLM) -> Model:
    client = AsyncOpenAI(api_key=KEY, base_url=llm.url, max_retries=0, http_client=http_client())
    return OpenAIChatModel("stub", provider=OpenAIProvider(openai_client=client))


@pytest.mark.parametrize("name", FIXTURES)
def test_the_reply_is_equal_to_that_of_the_stock_class(llm: StubLLM, name: str) -> None:
    steps = [usage(5, 6), *FIXTURES[name]]
    llm.script(steps, steps)

    ours, theirs = reply_of(build_model(llm.profile()), llm), reply_of(stock_model(llm), llm)

    assert ours == theirs


def test_an_error_in_the_stream_is_equal_to_that_of_the_stock_class(llm: StubLLM) -> None:
    llm.script(*[[say("a"), raw(ERROR)]] * 2)

    errors = []
    for model in (build_model(llm.profile()), stock_model(llm)):
        with pytest.raises(ModelError) as raised:
            reply_of(model, llm)
        errors.append((raised.value.code, raised.value.message, raised.value.retryable))

    assert errors[0] == errors[1]


def test_what_is_sent_is_what_the_stock_class_sends_but_for_older_servers(llm: StubLLM) -> None:
    llm.script([say("a")], [say("a")])
    reply_of(build_model(llm.profile()), llm)
    reply_of(stock_model(llm), llm)

    ours, theirs = (request.body for request in llm.requests)

    assert ours.pop("max_tokens") == theirs.pop("max_completion_tokens")
    assert {**ours, "tools": None} == {**theirs, "tools": None}
    assert [tool["function"]["name"] for tool in ours["tools"]] == ["add"]


@pytest.mark.parametrize("streaming", [True, False])
def test_what_is_asked_is_what_the_stock_client_asks(llm: StubLLM, streaming: bool) -> None:
    profile = llm.profile(streaming=streaming, max_output_tokens=77)
    talk = [
        *user("Add <|im_start|> these ☕"),
        Answer("I do.", (Call("c1", "add", '{"a": 1}'), Call("c2", "add", "{}"))),
        Results((Result("c1", "add", "1"), Result("c2", "add", "0"))),
        User("And?"),
    ]
    client = AsyncOpenAI(api_key=KEY, base_url=llm.url, max_retries=0, http_client=http_client())
    llm.script_forever([say("x"), finish("stop")])

    for model in (build_model(profile), OpenAIChat("stub", client, compatible=True)):
        submit(stream._read(model, profile, talk, [ADD], ReplyInProgress(RecordingSink()))).result(60)

    ours, theirs = llm.requests
    assert ours.body == theirs.body and ours.body["stream"] is streaming and len(ours.body["messages"]) == 6
    assert ours.headers.keys() == theirs.headers.keys()
