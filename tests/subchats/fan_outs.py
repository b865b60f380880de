"""Steps of a scripted lead that hands out several tasks at once, and what came of them."""

import json

from assistants.models import Thread, ToolCall
from assistants.models.definition import definition_of
from assistants.tools.context import ToolContext
from assistants.tools.invoke import invoke
from assistants.turns import executors, loop
from subchats.models import Delegation, Plan, PlanStep
from tests.kit.turns import commit_hooks, last_turn, run_all

TOOLS = ["ask_clarifying_question", "current_time", "invoke_assistant", "spawn_agent", "spawn_agents"]


def item(assistant, task="Look at your part", **more):
    return {"assistant": assistant, "task": task, **more}


def agent(task="Say hello", tools=(), prompt="Be brief.", **more):
    return {"task": task, "prompt": prompt, "tools": list(tools), **more}


def fan_out(*tasks):
    return {"calls": [{"name": "spawn_agents", "arguments": {"tasks": list(tasks)}}]}


def opened(ground, *steps, tools=TOOLS, text="Hello"):
    """A conversation whose lead takes these steps and then says it is done; its turn has a plan already."""
    ground.lead.tools = list(tools)
    ground.lead.save()
    ground.script([*steps, "Done."])
    thread = ground.open(text)
    plan(thread)
    return thread


def plan(thread, *domains):
    """A plan of the thread's last turn: one step for each of these domains, or one about none of them."""
    made = Plan.objects.create(turn=last_turn(thread), hash="0" * 64)
    for index, domain in enumerate(domains or [None], 1):
        PlanStep.objects.create(plan=made, index=index, description="Ask", check_text="One number", domain=domain)
    return made


def shared_out(ground, *tasks, **more):
    """The same, run to the end, with one fan-out."""
    thread = opened(ground, fan_out(*tasks), **more)
    run_all()
    return thread


def step():
    """Runs the one turn that was rung for next."""
    commit_hooks()
    loop.run_turn(executors.rung.pop(0))
    commit_hooks()


def run_turn_of(thread):
    """Runs the thread's turn before all others that were rung for."""
    commit_hooks()
    turn = last_turn(thread)
    executors.rung.remove(turn.pk)
    loop.run_turn(turn.pk)
    commit_hooks()


def attempt(thread, name, **arguments):
    """Calls a tool in the thread's running turn, as a model would; gives what came of it."""
    turn = last_turn(thread)
    call = ToolCall.objects.create(turn=turn, round=turn.round, index=turn.calls.count(), name=name, arguments=arguments)
    context = ToolContext(call=call, turn=turn, thread=turn.thread, definition=definition_of(turn.thread))
    return invoke(context, starting=lambda tool: None)


def call_of(thread, name="spawn_agents"):
    return last_turn(thread).calls.filter(name=name).order_by("round", "index").first()


def reports_of(thread):
    return json.loads(call_of(thread).result)["reports"]


def children(thread):
    """The sub-chats of a conversation in the order of the request."""
    return [each.child for each in Delegation.objects.filter(child__parent=thread).order_by("call__round", "position")]


def nothing_was_opened():
    return not Delegation.objects.exists() and not Thread.objects.exclude(parent=None).exists()
