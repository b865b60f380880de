"""Whatever bytes a server sends, what comes out is text that can be stored and shown."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.llm.event_lines import EventParser
from assistants.llm.plain_text import TextCleaner, clean_text
from tests.kit.stub_llm import StubLLM, encode_event, finish, raw, sleep
from tests.llm.asking import RecordingSink, ask

TEXT = "héllo 🐒 שלום"
RAW = TEXT.encode()


def event_of(content: bytes) -> bytes:
    return b'data: {"choices": [{"index": 0, "delta": {"content": "' + content + b'"}}]}\n\n'


def test_f21_a_character_split_over_chunks_survives(llm: StubLLM) -> None:
    event = event_of(RAW)
    start = event.index(RAW)
    for cut in range(start, start + len(RAW) + 1):
        llm.script([raw(event[:cut]), sleep(0.001), raw(event[cut:]), finish("stop")])

        assert ask(llm.profile()).text == TEXT


def test_f21_a_character_split_over_two_events_survives(llm: StubLLM) -> None:
    for cut in range(len(RAW) + 1):
        sink = RecordingSink()
        llm.script([raw(event_of(RAW[:cut]) + event_of(RAW[cut:])), finish("stop")])

        assert ask(llm.profile(), sink=sink).text == TEXT == "".join(sink.text)


def test_f21_one_byte_at_a_time_is_read_like_any_other_stream(llm: StubLLM) -> None:
    event = event_of(RAW).replace(b"\n", b"\r\n")
    llm.script([*(raw(event[at : at + 1]) for at in range(len(event))), finish("stop")])

    assert ask(llm.profile()).text == TEXT


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"a\\u0000b", "ab"),
        (b"\\ud800", "\ufffd"),
        (b"x\\udc00y", "x\ufffdy"),
        (b"\\ud83d\\ude00", "😀"),
        (b"\xef\xbb\xbfBOM", "\ufeffBOM"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"cut\xf0\x9f\x90", "cut\ufffd"),
    ],
)
def test_f21_bad_bytes_become_replacement_characters_and_nul_goes(llm: StubLLM, content: bytes, text: str) -> None:
    llm.script([raw(event_of(content)), finish("stop")])

    reply = ask(llm.profile())

    assert reply.text == text
    assert reply.text.encode().decode() == text


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b"\r\n\n"])
def test_f21_any_line_end_comment_or_extra_field_is_understood(llm: StubLLM, end: bytes) -> None:
    line = event_of(b"x").strip()
    llm.script(
        [raw(b"\xef\xbb\xbf: hello" + end + b"event: message" + end + line + end + b"id: 7" + end + line + end), finish("stop")]
    )

    assert ask(llm.profile()).text == "xx"


def test_f21_an_event_may_stand_in_several_data_lines(llm: StubLLM) -> None:
    llm.script([raw(b'data: {"choices": [{"delta":\ndata: {"content": "x"}}]}\n\n'), finish("stop")])

    assert ask(llm.profile()).text == "x"


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/json", "application/octet-stream", "text/event-stream; charset=latin-1"]
)
def test_f21_a_wrong_content_type_changes_nothing(llm: StubLLM, content_type: str) -> None:
    llm.script([raw(event_of(RAW), content_type), finish("stop")])

    assert ask(llm.profile()).text == TEXT


def test_f21_a_server_that_ignores_streaming_is_understood(llm: StubLLM) -> None:
    body = {
        "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    llm.script([raw(json.dumps(body, indent=1).encode(), "application/json")])

    reply = ask(llm.profile())

    assert (reply.text, reply.finish, reply.input_tokens, reply.output_tokens) == (TEXT, "stop", 3, 4)


def test_f21_arguments_and_names_are_cleaned_as_well(llm: StubLLM) -> None:
    call = {"index": 0, "id": "c\ud800", "function": {"name": "a\x00dd", "arguments": '{"a": "\ud83d'}}
    rest = {"index": 0, "function": {"arguments": '\ude00\ud800"}'}}
    events = encode_event({"choices": [{"delta": {"tool_calls": [call]}}]}) + encode_event(
        {"choices": [{"delta": {"tool_calls": [rest]}}]}
    )
    llm.script([raw(events), finish("tool_calls")])

    reply = ask(llm.profile())

    assert (reply.calls[0].name, reply.calls[0].provider_id, reply.calls[0].arguments) == (
        "add",
        "c\ufffd",
        '{"a": "😀\ufffd"}',
    )


@settings(max_examples=100, deadline=None)
@given(st.text(), st.lists(st.integers(0, 400), max_size=6))
def test_f21_text_cut_anywhere_comes_out_whole(text: str, cuts: list[int]) -> None:
    whole = text.replace("\0", "").encode("utf-8", "replace").decode()
    encoded = whole.encode()
    cleaner = TextCleaner()

    places = [0, *sorted(min(cut, len(encoded)) for cut in cuts), len(encoded)]
    pieces = [encoded[a:b].decode("utf-8", "surrogateescape") for a, b in zip(places, places[1:], strict=False)]
    out = "".join(cleaner.feed(piece) for piece in pieces) + cleaner.close()

    assert out == whole


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec=None)))
def test_f21_clean_text_can_always_be_stored(text: str) -> None:
    cleaned = clean_text(text)

    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean_text(cleaned) == cleaned


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_f21_events_do_not_depend_on_how_the_bytes_arrive(cuts: list[int], end: bytes) -> None:
    data = end.join([b": c", event_of(b"1").strip(), b"", b'data: {"a":', b"data: 2}", b"", event_of(b"3").strip(), b"", b""])
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parser = EventParser()

    events = [event for a, b in zip(places, places[1:], strict=False) for event in parser.feed(data[a:b])]

    assert [event.get("a") or event["choices"][0]["delta"]["content"] for event in events] == ["1", 2, "3"]
