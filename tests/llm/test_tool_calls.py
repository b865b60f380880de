"""Calls come out one by one, whatever a server does with ids, indexes, names and missing keys."""

import json

import pytest

from tests.kit.stub_llm import StubLLM, call, delta, encode_event, finish, raw, say
from tests.llm.asking import ADD, ask


def events(*calls_of_one_delta: list[dict]) -> bytes:
    return b"".join(encode_event({"choices": [{"delta": {"tool_calls": calls}}]}) for calls in calls_of_one_delta)


def asked(llm: StubLLM, *deltas: list[dict]) -> list[tuple[str, str, str]]:
    llm.script([raw(events(*deltas)), finish("tool_calls")])
    return [(one.provider_id, one.name, one.arguments) for one in ask(llm.profile(), tools=[ADD]).calls]


def test_a_call_in_pieces_is_put_together(llm: StubLLM) -> None:
    llm.script([say("Let me see."), call("add", {"a": 12, "b": "text"}, "c1", pieces=5), call("now", {}, "c2")])

    reply = ask(llm.profile(), tools=[ADD])

    assert (reply.text, reply.finish) == ("Let me see.", "tool_calls")
    assert [(one.provider_id, one.name, json.loads(one.arguments)) for one in reply.calls] == [
        ("c1", "add", {"a": 12, "b": "text"}),
        ("c2", "now", {}),
    ]


@pytest.mark.parametrize("streaming", [True, False])
def test_report_j4_a_call_without_the_arguments_key_has_empty_arguments(llm: StubLLM, streaming: bool) -> None:
    llm.script([delta(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": {"name": "now"}}])])

    reply = ask(llm.profile(streaming=streaming), tools=[ADD])

    assert [(one.name, one.arguments) for one in reply.calls] == [("now", "")]


def test_report_j4_later_arguments_are_appended_to_the_missing_ones(llm: StubLLM) -> None:
    calls = asked(
        llm, [{"index": 0, "id": "c1", "function": {"name": "add"}}], [{"index": 0, "function": {"arguments": '{"a":1}'}}]
    )

    assert calls == [("c1", "add", '{"a":1}')]


@pytest.mark.parametrize("streaming", [True, False])
def test_report_j5_without_tools_the_key_is_left_out(llm: StubLLM, streaming: bool) -> None:
    llm.script([say("ok")], [say("ok")])

    ask(llm.profile(streaming=streaming), tools=[])
    ask(llm.profile(streaming=streaming), tools=[ADD])

    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(llm.requests[0].body)
    assert llm.requests[1].tools == ["add"]


@pytest.mark.parametrize("ids", [["c1", "c1"], [None], [None, None], ["x" * 10_000], ["", ""]])
@pytest.mark.parametrize("streaming", [True, False])
def test_f25_ids_may_be_doubled_missing_or_huge(llm: StubLLM, ids: list[str | None], streaming: bool) -> None:
    llm.script([call("add", {"a": number}, one) for number, one in enumerate(ids)])

    reply = ask(llm.profile(streaming=streaming), tools=[ADD])

    assert [(one.name, one.arguments) for one in reply.calls] == [("add", f'{{"a": {number}}}') for number in range(len(ids))]
    assert all(len(one.provider_id) <= 128 for one in reply.calls)


def test_f25_an_id_that_changes_between_deltas_names_the_same_call(llm: StubLLM) -> None:
    with_index = asked(
        llm,
        [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a"'}}],
        [{"index": 0, "id": "c2", "function": {"arguments": ":1}"}}],
    )
    without = asked(
        llm, [{"id": "c1", "function": {"name": "add", "arguments": '{"a"'}}], [{"id": "c2", "function": {"arguments": ":1}"}}]
    )
    repeating = asked(
        llm,
        [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a"'}}],
        [{"index": 0, "id": "c2", "function": {"name": "add", "arguments": ":1}"}}],
    )

    assert with_index == without == repeating == [("c1", "add", '{"a":1}')]


def test_f25_without_an_index_order_and_id_decide(llm: StubLLM) -> None:
    in_one_delta = asked(llm, [{"function": {"name": "now"}}, {"function": {"name": "now"}}])
    one_by_one = asked(
        llm,
        [{"id": "c1", "function": {"name": "add", "arguments": "{"}}],
        [{"function": {"arguments": "}"}}],
        [{"id": "c2", "function": {"name": "add", "arguments": "{"}}],
        [{"id": "c2", "function": {"arguments": "}"}}],
    )

    assert [name for _, name, _ in in_one_delta] == ["now", "now"]
    assert one_by_one == [("c1", "add", "{}"), ("c2", "add", "{}")]


def test_f25_servers_that_number_every_call_zero_are_understood(llm: StubLLM) -> None:
    calls = asked(
        llm,
        [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a":1}'}}],
        [{"index": 0, "id": "c2", "function": {"name": "add", "arguments": '{"a":2}'}}],
        [{"index": 0, "id": "c3", "function": {"name": "now", "arguments": "{}"}}],
    )

    assert calls == [("c1", "add", '{"a":1}'), ("c2", "add", '{"a":2}'), ("c3", "now", "{}")]


def test_a_name_that_is_repeated_in_every_delta_is_taken_once(llm: StubLLM) -> None:
    calls = asked(
        llm, *([{"index": 0, "id": "c1", "function": {"name": "add", "arguments": piece}}] for piece in ("", '{"a"', ":1}"))
    )

    assert calls == [("c1", "add", '{"a":1}')]


def test_calls_that_alternate_are_kept_apart(llm: StubLLM) -> None:
    calls = asked(
        llm,
        [
            {"index": 0, "id": "a", "function": {"name": "add", "arguments": '{"a"'}},
            {"index": 1, "id": "b", "function": {"name": "mul", "arguments": '{"b"'}},
        ],
        [{"index": 1, "function": {"arguments": ":2}"}}, {"index": 0, "function": {"arguments": ":1}"}}],
    )

    assert calls == [("a", "add", '{"a":1}'), ("b", "mul", '{"b":2}')]


@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'])
def test_arguments_may_come_as_an_object(llm: StubLLM, arguments: object) -> None:
    calls = asked(llm, [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": arguments}}])

    assert calls == [("c1", "add", '{"a": 1}')]


@pytest.mark.parametrize("odd", [None, "text", 7, [], [None], [{}], [{"index": 0}], [{"index": "x", "function": None}]])
def test_f25_calls_of_an_impossible_shape_do_not_break_the_reply(llm: StubLLM, odd: object) -> None:
    llm.script([raw(encode_event({"choices": [{"delta": {"content": "ok", "tool_calls": odd}}]})), finish("stop")])

    reply = ask(llm.profile(), tools=[ADD])

    assert reply.text == "ok"
    assert all(one.name == "" for one in reply.calls)


def test_a_reply_that_says_stop_but_calls_is_one_with_calls(llm: StubLLM) -> None:
    llm.script([call("add", {"a": 1}), finish("stop")], [say("no calls"), finish("tool_calls")])

    calling, talking = ask(llm.profile(), tools=[ADD]), ask(llm.profile(), tools=[ADD])

    assert (calling.finish, talking.finish) == ("tool_calls", "stop")
