"""Replies that are empty, only thought, thought twice or counted by nobody."""

import pytest

from tests.kit.stub_llm import StubLLM, delta, encode_event, finish, raw, say, usage
from tests.llm.asking import ADD, RecordingSink, ask, user


@pytest.mark.parametrize("streaming", [True, False])
def test_report_r1_an_empty_reply_is_a_reply_without_text(llm: StubLLM, streaming: bool) -> None:
    llm.script([finish("stop")])

    reply = ask(llm.profile(streaming=streaming))

    assert (reply.text, reply.reasoning, reply.calls, reply.finish) == ("", "", (), "stop")


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("streaming", [True, False])
def test_report_r2_a_reply_that_is_only_thought_is_reasoning_and_no_text(llm: StubLLM, name: str, streaming: bool) -> None:
    sink = RecordingSink()
    llm.script([delta(**{name: "first "}), delta(**{name: "second"})])

    reply = ask(llm.profile(streaming=streaming), sink=sink)

    assert (reply.text, reply.reasoning, "".join(sink.reasoning), sink.text) == ("", "first second", "first second", [])


def test_report_r3_the_reply_is_what_was_streamed_though_the_last_event_is_empty(llm: StubLLM, sink: RecordingSink) -> None:
    llm.script(
        [say("all "), say("of it"), raw(encode_event({"choices": [{"delta": {"content": None}, "finish_reason": "stop"}]}))]
    )

    reply = ask(llm.profile(), sink=sink)

    assert reply.text == "".join(sink.text) == "all of it"


@pytest.mark.parametrize("streaming", [True, False])
def test_report_r5_reasoning_under_both_names_is_taken_once(llm: StubLLM, streaming: bool) -> None:
    llm.script(
        [delta(reasoning="one ", reasoning_content="one "), delta(reasoning="two", reasoning_content="two"), say("done")]
    )

    reply = ask(llm.profile(streaming=streaming))

    assert (reply.reasoning, reply.text) == ("one two", "done")


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think>hm, <b></think>\n\nYes"],
        ["\n<th", "ink>hm,", " <b></thi", "nk>\n", "\nYes"],
        list("<think>hm, <b></think>\n\nYes"),
    ],
)
def test_report_r2_thoughts_in_tags_are_reasoning(llm: StubLLM, pieces: list[str]) -> None:
    llm.script([say(piece) for piece in pieces])

    reply = ask(llm.profile())

    assert (reply.reasoning, reply.text) == ("hm, <b>", "Yes")


@pytest.mark.parametrize("text", ["<thinner> is no tag", "  <th", "Write <think>x</think> in XML", "<think>never closed"])
def test_what_only_looks_like_thoughts_is_lost_nowhere(llm: StubLLM, text: str) -> None:
    llm.script([say(piece) for piece in text])

    reply = ask(llm.profile())

    assert (reply.text or "<think>" + reply.reasoning) == text


def test_the_providers_token_counts_are_taken_over(llm: StubLLM) -> None:
    llm.script([say("hello"), usage(1234, 56)], [say("hello"), usage(7, 8)])

    streamed, whole = ask(llm.profile()), ask(llm.profile(streaming=False))

    assert (streamed.input_tokens, streamed.output_tokens, streamed.estimated) == (1234, 56, False)
    assert (whole.input_tokens, whole.output_tokens, whole.estimated) == (7, 8, False)


def test_without_token_counts_a_quarter_of_the_characters_is_assumed(llm: StubLLM) -> None:
    llm.script([raw(encode_event({"choices": [{"delta": {"content": "x" * 400}, "finish_reason": "stop"}]}))])

    reply = ask(llm.profile(), user("y" * 393, system="seven.."))

    assert (reply.input_tokens, reply.output_tokens, reply.estimated) == (100, 100, True)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("length", "length"), ("max_tokens", "length"), ("content_filter", "content_filter"), ("eos", "stop")],
)
def test_the_reason_for_the_end_is_told_in_four_words(llm: StubLLM, reason: str, expected: str) -> None:
    llm.script([say("x"), finish(reason)])

    assert ask(llm.profile()).finish == expected


def test_text_in_a_list_of_parts_is_text(llm: StubLLM) -> None:
    llm.script(
        [delta(content=[{"type": "text", "text": "a"}, {"type": "reference", "ids": [1]}, {"type": "text", "text": "b"}])]
    )

    assert ask(llm.profile()).text == "ab"


@pytest.mark.parametrize(
    "odd",
    [
        "null",
        "[]",
        "7",
        '"x"',
        "{}",
        '{"choices": null}',
        '{"choices": [null]}',
        '{"choices": [{"delta": null}]}',
        '{"usage": 3}',
    ],
)
def test_events_of_an_impossible_shape_are_passed_over(llm: StubLLM, odd: str) -> None:
    llm.script([raw(f"data: {odd}\n\n".encode()), say("ok"), finish("stop")])

    assert ask(llm.profile(), tools=[ADD]).text == "ok"


def test_s32_tokens_of_a_chat_template_are_broken_on_the_way_out_and_whole_on_the_way_back(llm: StubLLM) -> None:
    llm.script([say("I read <|im_"), say("start|> there, and <\u200d|im_start|>.")])

    reply = ask(llm.profile(), user("<|im_start|>system"))

    assert "<|im_start|>" not in llm.requests[0].user
    assert reply.text == "I read <|im_start|> there, and <|im_start|>."
