"""A sub-task that was handed back goes to its owner, or further up, and never ends in silence (J-20, J-22 to J-25, C11)."""

import json

from assistants.models import Thread, Turn
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from tests.kit.turns import last_turn, replies, run_all
from tests.subchats.fan_outs import call_of, children, fan_out, item, opened, plan, reports_of, run_turn_of, shared_out, step
from tests.subchats.test_delegation import delegate, invoke, result_of
from tests.subchats.test_hand_back import back


def test_j20_in_a_fan_out_the_instruction_stands_in_the_labelled_report(ground):
    ground.assistant("carrier", script=["DHL"])
    ground.assistant("good", script=["Fine."])
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="carrier")])

    thread = shared_out(ground, item("good"), item("stock", label="Transport damage"))

    good, handed = reports_of(thread)
    assert good["success"] and handed["label"] == "Transport damage" and handed["success"] is False
    assert "fix=Call carrier now with the question below, by invoke_assistant." in handed["error"]
    assert "Needed: Which carrier?" in handed["error"] and "without a reply is not a valid way" in handed["error"]


def test_j20_the_root_routes_to_the_owner_and_answers(ground):
    ground.assistant("carrier", script=["DHL"])
    ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="carrier")])
    ground.script([invoke("stock"), invoke("carrier", task="Which carrier?"), "It was DHL."])
    thread = ground.open()

    run_all()

    assert [child.assistant.slug for child in Thread.objects.filter(parent=thread).order_by("pk")] == ["stock", "carrier"]
    assert replies(thread)[-1] == "It was DHL."


def test_j20_at_depth_one_it_goes_further_up_with_all_that_is_known(ground):
    """Journey 4, from the hand-back on: the middle can't call the owner, the root can."""
    carrier = ground.assistant("carrier", script=["DHL"])
    leaf = ground.assistant(
        "leaf",
        tools=["hand_back"],
        script=[back(whatIsNeeded="Which carrier?", whatIEstablished="Rates are known.", owningAgent="carrier")],
    )
    further = back(whatIsNeeded="Which carrier?", whatIEstablished="Rates are known.", owningAgent="carrier")
    middle = ground.assistant("mid", tools=["invoke_assistant", "hand_back"], script=[invoke("leaf"), further])
    middle.delegates.add(leaf)
    ground.lead.delegates.set([middle, carrier])
    ground.script([invoke("mid"), invoke("carrier", task="Which carrier?"), "It was DHL."])
    thread = ground.open()

    run_all()

    told = json.loads(last_turn(Thread.objects.get(parent__parent=thread).parent).calls.order_by("round").first().result)
    assert "hand it back further" in told["error"]
    first = json.loads(last_turn(thread).calls.order_by("round").first().result)
    assert "Call carrier now" in first["error"] and "Rates are known." in first["error"]
    assert replies(thread)[-1] == "It was DHL."


def test_j20_a_middle_that_can_not_hand_back_answers_with_what_is_established(ground):
    ground.assistant("carrier", script=["DHL"])
    leaf = ground.assistant("leaf", tools=["hand_back"], script=[back(whatIsNeeded="Which?", owningAgent="carrier")])
    ground.assistant("mid", tools=["invoke_assistant"], script=[invoke("leaf"), "Open: which carrier."]).delegates.add(leaf)

    thread = delegate(ground, invoke("mid"))

    middle = Thread.objects.get(parent=thread)
    error = json.loads(last_turn(middle).calls.get().result)["error"]
    assert "answer with what is established" in error and "hand it back" not in error.splitlines()[0]


def test_j20_an_owner_that_can_not_be_called_by_any_tool_is_not_to_be_called(ground):
    ground.assistant("carrier", script=["DHL"])
    thread = opened(ground, tools=["spawn_agent", "hand_back"])
    spawn = {"name": "spawn_agent", "arguments": {"task": "Count", "prompt": "Be brief.", "tools": ["hand_back"]}}
    handing = {"when": {"system": "Be brief"}, "reply": back(owningAgent="carrier")}
    ground.script({"rules": [handing, {"steps": [{"calls": [spawn]}, "Done."]}]})

    run_all()

    assert "belongs to nobody you can call" in result_of(thread)["error"]


def test_j20_a_root_whose_model_says_nothing_after_a_hand_back_is_asked_again(ground):
    ground.lead.delegates.add(ground.assistant("stock", tools=["hand_back"], script=[back(whatIsNeeded="Which?")]))
    ground.script([invoke("stock"), ""])
    thread = ground.open()
    run_all()
    turn = last_turn(thread)
    assert (turn.state, turn.reason) == (Turn.State.PAUSED, "MODEL_EMPTY")

    ground.script([invoke("stock"), "I know only this much."])
    Turn.objects.filter(pk=turn.pk).update(wake_at=turn.created)
    sweep()
    run_all()

    assert (last_turn(thread).state, replies(thread)[-1]) == (Turn.State.DONE, "I know only this much.")


def test_j25_journey_5_an_invented_owner_is_dropped_and_the_root_has_to_act(ground):
    ground.assistant("desk", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="logistics-x")])
    ground.assistant("carrier", script=["DHL"])
    ground.script([invoke("desk"), invoke("carrier", task="Which carrier?"), "It was DHL."])
    thread = ground.open()

    run_all()

    error = json.loads(last_turn(thread).calls.order_by("round").first().result)["error"]
    assert "“logistics-x” does not exist and was dropped" in error and "Owner:" not in error
    assert error.splitlines()[0].endswith("answer with what is established and say what is open.")
    assert replies(thread)[-1] == "It was DHL."


def test_j25_who_names_itself_as_the_owner_is_not_called_again(ground):
    ground.assistant("desk", tools=["hand_back"], script=[back(whatIsNeeded="Which carrier?", owningAgent="desk")])

    thread = delegate(ground, invoke("desk"))

    assert "is the one that handed it back" in result_of(thread)["error"] and "Call desk" not in result_of(thread)["error"]


def test_j22_of_several_that_hand_back_each_speaks_for_itself(ground):
    for name in ("one", "two"):
        ground.assistant(name, tools=["hand_back"], script=[back(whatIsNeeded=f"Question of {name}?"), "never"])

    thread = shared_out(ground, item("one"), item("two"))

    errors = [each["error"] for each in reports_of(thread)]
    assert ["Question of one?" in errors[0], "Question of two?" in errors[1]] == [True, True]
    assert [last_turn(child).model_calls for child in children(thread)] == [1, 1]
    assert replies(thread)[-1] == "Done."


def test_t11_journey_12_three_levels_work_with_fan_outs_and_a_fourth_makes_no_thread(ground):
    ground.assistant("deep", script=["never"])
    ground.assistant("leaf", tools=["spawn_agents"], script=[fan_out(item("deep", "1"), item("deep", "2")), "Leaf."])
    ground.assistant("mid", tools=["spawn_agents"], script=[fan_out(item("leaf", "1"), item("leaf", "2")), "Mid."])
    thread = opened(ground, fan_out(item("mid", "1"), item("mid", "2")))
    step()
    for middle in children(thread):
        plan(middle)
        run_turn_of(middle)

    run_all()

    chats = Thread.objects.filter(root=thread)
    leaves = [chat for chat in chats if chat.parent_id != thread.chat_id]
    assert (chats.count(), len(leaves)) == (6, 4)
    assert all(chat.chat_id.startswith(f"sub_{chat.parent_id}_") and chat.parent_message_id for chat in chats)
    assert {call_of(leaf).code for leaf in leaves} == {"DEPTH_EXCEEDED"}
    assert [each["reply"] for each in reports_of(thread)] == ["Mid.", "Mid."]
    assert Delegation.objects.filter(returned_at=None).count() == 0
