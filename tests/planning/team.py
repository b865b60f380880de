"""A lead with two domains below it, and the calls that plan, hand over and confirm."""

import json

from assistants.models import Domain
from subchats.models import PlanStep
from tests.kit.turns import last_turn, run_all
from tests.kit.world import World

TOOLS = ["write_plan", "confirm_step", "invoke_assistant", "spawn_agent", "spawn_agents", "ask_clarifying_question"]


def found(world: World, **lead: object) -> World:
    """Domain `returns` with the specialist `desk`, domain `stock` with `count`; the lead may plan and hand over."""
    for slug, specialist in (("returns", "desk"), ("stock", "count")):
        domain = Domain.objects.create(tenant=world.apes, slug=slug, name=slug.title())
        world.assistant(specialist, domain=domain, script=[f"The {specialist} found 118 units."] * 9)
    for field, value in {"tools": TOOLS, **lead}.items():
        setattr(world.lead, field, value)
    world.lead.save()
    return world


def head_of(team: World, *script: object, **fields: object):
    """A supervisor of the domain `returns`, with a second specialist below it."""
    domain = Domain.objects.get(slug="returns")
    team.assistant("second", domain=domain, script=["Second."])
    tools = ["write_plan", "invoke_assistant", "spawn_agents", "hand_back", "confirm_step"]
    return team.assistant("head", tools=tools, domain=domain, script=list(script), **fields)


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


def reply(*calls: dict[str, object]) -> dict[str, object]:
    return {"calls": list(calls)}


def step(description: str = "Count the returns", check: str = "One figure per week", **more: str) -> dict[str, str]:
    return {"description": description, "check": check, **more}


def plan(*steps: dict[str, str]) -> dict[str, object]:
    return reply(call("write_plan", steps=list(steps or (step(specialist="desk"),))))


def invoke(assistant: str = "desk", task: str = "Count them") -> dict[str, object]:
    return reply(call("invoke_assistant", assistant=assistant, task=task))


def fan_out(*assistants: str) -> dict[str, object]:
    tasks = [{"assistant": each, "task": f"Look into it, {each}"} for each in assistants]
    return reply(call("spawn_agents", tasks=tasks))


def confirm(index: int, evidence: str = "118 units in week 47", **more: object) -> dict[str, object]:
    return reply(call("confirm_step", index=index, evidence=evidence, **more))


def play(world: World, *steps: object, assistant: object = None):
    """Opens a conversation whose lead takes these steps, and runs it until it rests."""
    world.script([*steps, "That is all."])
    thread = world.open(assistant=assistant)
    run_all()
    return thread


def codes(thread) -> list[str]:
    """The refusal of each call of the last turn, empty for one that was carried out."""
    return [each.code for each in last_turn(thread).calls.order_by("round", "index")]


def steps_in(thread) -> list[tuple[str, str]]:
    """Description and status of each step of the last turn's plan."""
    steps = PlanStep.objects.filter(plan__turn=last_turn(thread)).order_by("index")
    return [(each.description, each.status) for each in steps]


def result_of(thread, place: int = 0):
    return json.loads(last_turn(thread).calls.order_by("round", "index")[place].result)
