"""Situations of several assistants that work for each other when the process ends: sub-chats, plans, workflows, research."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from assistants.models import Thread
from tests.journals.situations import ASK, TIME, call, reply
from tests.journals.stage import Stage
from tests.kit.turns import last_turn
from tests.research.house import QUERY, build, emits, handoff, sends
from tests.workflows.steps import COUNT, PROGRESS, TOOLS, banana_count, record

PLANNING = ("write_plan", "confirm_step", "invoke_assistant", "spawn_agent", "spawn_agents", "ask_clarifying_question")


def hand_to(assistant: str, task: str = "Look at your part") -> dict[str, Any]:
    return call("invoke_assistant", assistant=assistant, task=task)


def fan_out(*assistants: str) -> dict[str, Any]:
    return call("spawn_agents", tasks=[{"assistant": each, "task": f"Look, {each}"} for each in assistants])


def plan(*specialists: str) -> dict[str, Any]:
    steps = [{"description": f"Ask {each}", "specialist": each, "check": "One figure per week"} for each in specialists]
    return call("write_plan", steps=steps)


def sub_chat(stage: Stage) -> None:
    stage.worker("stock", ["42 units."])
    stage.say([reply(hand_to("stock")), "There are 42."])
    stage.open()
    stage.run()


def sub_chat_with_tools(stage: Stage) -> None:
    stage.worker("stock", [reply(TIME), reply(call("calculate", expression="6 * 7")), "42 units."], "current_time", "calculate")
    stage.lead("invoke_assistant", "current_time")
    stage.say([reply(hand_to("stock"), TIME), "There are 42."])
    stage.open()
    stage.run()


def three_deep(stage: Stage) -> None:
    stage.worker("leaf", ["From the leaf."])
    stage.worker("middle", [reply(hand_to("leaf")), "From the middle."], "invoke_assistant")
    stage.say([reply(hand_to("middle")), "From the top."])
    stage.open()
    stage.run()


def two_in_one_reply(stage: Stage) -> None:
    stage.worker("a", ["From a."])
    stage.worker("b", [{"error": "MODEL_AUTH"}])
    stage.say([reply(hand_to("a"), hand_to("b")), "One of them."])
    stage.open()
    stage.run()


def planned_fan_out(stage: Stage) -> None:
    for slug in ("a", "b", "c"):
        stage.worker(slug, [f"From {slug}: 118 units."])
    stage.lead(*PLANNING)
    done = [call("confirm_step", index=index, evidence="118 units in week 47") for index in (1, 2, 3)]
    stage.say([reply(plan("a", "b", "c")), reply(fan_out("a", "b", "c")), reply(*done), "All three are in."])
    stage.open()
    stage.run()


def fan_out_with_failures(stage: Stage) -> None:
    stage.worker("a", [{"text": "Half of", "error": "MODEL_AUTH"}])
    stage.worker("b", [reply(call("hand_back", whatIsNeeded="Which carrier?", owningAgent="c"))], "hand_back")
    stage.worker("c", ["DHL."])
    stage.lead(*PLANNING)
    stage.say([reply(plan("a", "b")), reply(fan_out("a", "b")), reply(hand_to("c")), "It was DHL."])
    stage.open()
    stage.run()


def stopped_fan_out(stage: Stage) -> None:
    stage.worker("a", ["From a."])
    stage.worker("b", ["From b."])
    stage.lead(*PLANNING)
    stage.say([reply(plan("a", "b")), reply(fan_out("a", "b")), "With what there is."])
    stage.open()
    stage.run_one()
    stage.stop(last_turn(Thread.objects.filter(parent=stage.thread).order_by("pk")[0]))
    stage.run_one()
    stage.stop(last_turn(stage.thread))
    stage.run()


def waiting_plan(stage: Stage) -> None:
    stage.worker("a", ["From a."])
    stage.lead(*PLANNING, plan_approval="person")
    stage.say([reply(plan("a")), reply(hand_to("a")), reply(call("confirm_step", index=1, evidence="118 units")), "Done."])
    stage.open()
    stage.run()


def refused_without_a_plan(stage: Stage) -> None:
    stage.worker("a", ["From a."])
    stage.worker("b", ["From b."])
    stage.lead(*PLANNING, plan_gate="always")
    stage.say([reply(hand_to("a")), reply(plan("a")), reply(hand_to("a"), hand_to("b")), "What was planned."])
    stage.open()
    stage.run()


def question_from_below(stage: Stage) -> None:
    stage.worker("leaf", [reply(ASK), "In that year 118."], "ask_clarifying_question")
    stage.worker("middle", [reply(hand_to("leaf")), "118, says the leaf."], "invoke_assistant")
    stage.say([reply(hand_to("middle")), "118 all in all."])
    stage.open()
    stage.run()


def approval_from_below(stage: Stage) -> None:
    stage.worker("post", [reply(call("send", to="anna", text="Hello")), "It is out."], "send")
    stage.lead("invoke_assistant", "send")
    stage.say([reply(hand_to("post")), "Sent."])
    stage.open()
    stage.run()


def agent_made_for_one_task(stage: Stage) -> None:
    stage.lead("spawn_agent", "current_time")
    stage.say({"rules": [
        {"when": {"system": "Be brief."}, "steps": [reply(TIME), "It is nine."]},
        {"steps": [reply(call("spawn_agent", task="What time is it?", prompt="Be brief.", tools=["current_time"])), "Nine."]},
    ]})  # fmt: skip
    stage.open()
    stage.run()


def steered_sub_chat(stage: Stage) -> None:
    stage.worker("stock", [reply(TIME), "42, both counted."], "current_time")
    stage.say([reply(hand_to("stock")), "There are 42."])
    stage.open()
    stage.run_one()
    stage.put("Count the cellar too", "steer", Thread.objects.get(parent=stage.thread))
    stage.run()


def interrupted_caller(stage: Stage) -> None:
    stage.worker("stock", ["42 units."])
    stage.say([reply(hand_to("stock")), "Something else, then."])
    stage.open()
    stage.run_one()
    stage.put("No, something else", "interrupt")
    stage.run()


def used_up_by_sub_chats(stage: Stage) -> None:
    stage.worker("stock", [{**reply(TIME), "usage": [30_000, 100]}, "42 units."], "current_time")
    stage.lead("invoke_assistant", turn_tokens=20_000)
    stage.say([reply(hand_to("stock")), "What there is."])
    stage.open()
    stage.run()


def rate_limited_below(stage: Stage) -> None:
    stock = stage.worker("stock", [{"error": "MODEL_RATE_LIMITED", "retry_after": 20}])
    stage.say([reply(hand_to("stock")), "There are 42."])
    stage.open()
    stage.run()
    stage.recovers(["42 units."], stock)


def workflow(stage: Stage) -> None:
    banana_count(stage.ground.apes)
    stage.lead("current_time", "calculate", *TOOLS)
    find, whole = call("find_graph_workflow", task="Count the bananas"), call("get_graph_workflow", workflowId="banana-count")
    stage.say([reply(find), reply(whole), reply(TIME), COUNT, PROGRESS, record("count", True, "42"), "Somebody has to sign."])
    stage.open("How many bananas are left?")
    stage.run()


def research(stage: Stage) -> None:
    Path(stage.folder).mkdir(parents=True, exist_ok=True)
    house = build(stage.ground, Path(stage.folder))
    for assistant, name, script in (
        (house.scout, "scout", [sends(), emits()]),
        (house.explorer, "explorer", [handoff()]),
    ):
        _script(stage, assistant, name, script)
    stage.open(QUERY, assistant=house.scout)
    stage.run()


def research_that_finds_nothing(stage: Stage) -> None:
    Path(stage.folder).mkdir(parents=True, exist_ok=True)
    house = build(stage.ground, Path(stage.folder))
    _script(stage, house.scout, "scout", [sends(), emits(), sends(), "I don't know.", "Really.", "No."])
    _script(stage, house.explorer, "explorer", ["Nothing is there."] * 9)
    stage.open(QUERY, assistant=house.scout)
    stage.run()


def built_in_team(stage: Stage) -> None:
    stock = stage.worker("stock", ["-"], "calculate", name="Stock desk", description="Knows how many units are in stock.")
    stage.lead("invoke_assistant", "calculate")
    stage.builtin(stage.ground.lead)
    stage.builtin(stock)
    stage.open("Ask the stock desk: what is 6 * 7?")
    stage.run()


def _script(stage: Stage, assistant: Any, name: str, script: list[Any]) -> None:
    from tests.kit.world import scripted_profile

    assistant.profile = scripted_profile(stage.ground.apes, name, script)
    assistant.save()
    stage.say(script, assistant)


TOGETHER: tuple[Callable[[Stage], None], ...] = (
    sub_chat, sub_chat_with_tools, three_deep, two_in_one_reply, planned_fan_out, fan_out_with_failures, stopped_fan_out,
    waiting_plan, refused_without_a_plan, question_from_below, approval_from_below, agent_made_for_one_task, steered_sub_chat,
    interrupted_caller, used_up_by_sub_chats, rate_limited_below, workflow, research, research_that_finds_nothing,
    built_in_team,
)  # fmt: skip
