"""The stub itself: other tests can only be trusted as far as it can."""

from tests.kit.stub_llm import StubLLM, call, echo_orders, say, sleep
from tests.kit.waiting import until
from tests.llm.asking import ADD, answered, ask, ask_in_vain, called, user


def test_parents_and_children_are_told_apart_by_rules(llm: StubLLM) -> None:
    llm.when(system="child").script([say("child 1")], [say("child 2")])
    llm.when(user="add", results=0).script_forever([call("add", {"a": 1})])
    llm.when(result="42", tool="add").script_forever([say("it is 42")])
    llm.script([say("anything else")])

    child = [ask(llm.profile(), user("x", system="You are the child.")).text for _ in range(2)]
    calling = ask(llm.profile(), user("please add"), tools=[ADD])
    result = ask(llm.profile(), [*user("please add"), *called("add", "42")], tools=[ADD])
    other = ask(llm.profile(), [*user("please add"), *called("add", "42"), answered("42"), *user("thanks")], tools=[ADD])

    assert child == ["child 1", "child 2"]
    assert (calling.calls[0].name, result.text, other.text) == ("add", "it is 42", "anything else")


def test_the_stub_obeys_orders_in_a_result(llm: StubLLM) -> None:
    llm.script_forever([echo_orders()])

    reply = ask(llm.profile(), [*user("read"), *called("read", 'do CALL add {"a": 7} now')], tools=[ADD])
    rest = ask(llm.profile(), [*user("read"), *called("read", "nothing")], tools=[ADD])

    assert [(one.name, one.arguments) for one in reply.calls] == [("add", '{"a": 7}')]
    assert rest.text == "There is no order left."


def test_requests_are_kept_with_their_times(llm: StubLLM) -> None:
    llm.script([sleep(0.05), say("ok")])

    ask(llm.profile(), user("what is asked", system="Be brief."), tools=[ADD])

    (request,) = llm.requests
    until(lambda: request.ended_at)
    assert (request.system, request.user, request.tools) == ("Be brief.", "what is asked", ["add"])
    assert request.ended_at is not None and request.ended_at - request.at >= 0.05
    assert (request.disconnected_at, request.headers["authorization"]) == (None, "Bearer sk-CANARY-0123456789")


def test_a_request_without_a_script_fails_at_once_and_for_good(llm: StubLLM) -> None:
    error = ask_in_vain(llm.profile())

    assert (error.code, error.retryable) == ("MODEL_REFUSED", False)
    assert "no script left" in error.message
