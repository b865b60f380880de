"""A sub-task that is handed back, and what the delegator is told to do with it (J-20, J-22 to J-25)."""

import json

from assistants.models import Thread, Turn
from assistants.tools.registry import find_tool
from assistants.turns.lifecycle import send_message
from subchats.models import Delegation
from tests.kit.turns import last_turn, replies, run_all
from tests.subchats.test_delegation import delegate, invoke, result_of


def back(**arguments):
    return {"calls": [{"name": "hand_back", "arguments": arguments}]}


def test_j22_a_hand_back_ends_the_childs_turn_and_nothing_is_asked_after_it(ground):
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?"), "Must not be written."])

    thread = delegate(ground, invoke())

    child = Thread.objects.get(parent=thread)
    assert (last_turn(child).state, last_turn(child).reason) == (Turn.State.DONE, "hand_back")
    assert last_turn(child).model_calls == 1 and replies(child) == [""]


def test_j22_only_a_sub_chat_is_offered_the_tool(ground):
    assistant = ground.assistant("stock", tools=["hand_back"], script=["Hi."])
    thread = ground.open(assistant=assistant)

    from assistants.models.definition import definition_of

    assert find_tool("hand_back").define(definition_of(thread), thread) is None


def test_j22_a_person_who_asks_a_sub_chat_after_its_report_is_told_in_words(ground):
    late = [back(whatIsNeeded="Which carrier?"), "That is a question for logistics."]
    ground.assistant("stock", tools=["hand_back"], script=["Twelve.", *late])
    child = Thread.objects.get(parent=delegate(ground, invoke()))

    send_message(child, author=ground.alice, text="And by which carrier?")
    run_all()

    assert last_turn(child).reason != "hand_back"
    assert replies(child)[-1] == "That is a question for logistics."
    assert Delegation.objects.get().hand_back is None


def test_j22_report_d30_other_tools_of_the_same_reply_finish_first(ground):
    both = {"calls": [back(whatIsNeeded="Who?")["calls"][0], {"name": "current_time"}]}
    ground.assistant("stock", tools=["hand_back", "current_time"], script=[both])

    thread = delegate(ground, invoke())

    outcomes = {call.name: call.outcome for call in last_turn(Thread.objects.get(parent=thread)).calls.all()}
    assert outcomes == {"hand_back": "ok", "current_time": "ok"}


def test_j23_j24_blank_fields_become_the_fallback_words(ground):
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded=" ", whatIEstablished="")])

    delegate(ground, invoke())

    kept = Delegation.objects.get().hand_back
    assert (kept["needed"], kept["established"]) == ("Not stated.", "nothing")


def test_j24_what_was_established_reaches_the_delegator(ground):
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIEstablished="Week 46 had 31 units.")])

    thread = delegate(ground, invoke())

    assert "Week 46 had 31 units." in result_of(thread)["error"]


def test_j25_a_real_owner_is_passed_on_and_an_invented_one_dropped_with_a_note(ground):
    ground.assistant("carrier", script=["DHL"])
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="carrier")])
    ground.assistant("desk", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="logistics-x")])

    real = result_of(delegate(ground, invoke("stock")))["error"]
    invented = result_of(delegate(ground, invoke("desk")))["error"]

    assert "Owner: carrier" in real
    assert "Owner:" not in invented and "does not exist and was dropped" in invented


def test_j20_an_owner_of_ones_own_is_to_be_called_now(ground):
    ground.assistant("carrier", script=["DHL"])
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="carrier")])

    thread = delegate(ground, invoke("stock"))

    error = result_of(thread)["error"]
    assert error.startswith("[HANDED_BACK] field=- fix=Call carrier now")
    assert "without a reply is not a valid way" in error
    assert result_of(thread)["success"] is False


def test_j20_a_middle_assistant_without_the_owner_is_told_to_hand_back_further(ground):
    carrier = ground.assistant("carrier", script=["DHL"])
    leaf = ground.assistant("leaf", tools=["hand_back"], script=[back(whatIsNeeded="Which?", owningAgent="carrier")])
    mid = ground.assistant("mid", tools=["invoke_assistant", "hand_back"], script=[invoke("leaf"), "mid ends."])
    mid.delegates.add(leaf)
    assert carrier not in mid.delegates.all()

    thread = delegate(ground, invoke("mid"))

    middle = Thread.objects.get(parent=thread)
    assert "hand it back further" in json.loads(last_turn(middle).calls.get().result)["error"]


def test_j20_a_root_that_can_not_route_still_answers(ground):
    ground.lead.delegates.add(
        ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which?", owningAgent="")])
    )

    thread = delegate(ground, invoke("stock"))

    assert "answer with what is established" in result_of(thread)["error"]
    assert replies(thread)[-1] == "Done."


def test_j21_every_delegation_tool_names_the_combining_rule():
    for name in ("invoke_assistant", "spawn_agent", "hand_back"):
        assert "cache_assembled_table" in find_tool(name).description
