"""A small workflow of the apes, and what a scripted model does with workflows."""

from assistants.models import Tenant, Thread, ToolCall
from subchats.models import Workflow
from tests.kit.turns import last_turn

TOOLS = ("find_graph_workflow", "get_graph_workflow", "get_workflow_progress", "record_workflow_step")
NODES = [
    {"id": "ask", "title": "Ask the clock", "owner": "lead", "operations": ["current_time"], "produces": "The time."},
    {
        "id": "count",
        "title": "Count",
        "owner": "lead",
        "operations": ["calculate"],
        "requires": ["ask"],
        "hazard": "A count without a time is worth nothing.",
    },
    {
        "id": "sign",
        "title": "Sign the sheet",
        "owner": "operator",
        "requires": ["count"],
        "note": "The keeper signs the sheet at the gate.",
    },
    {"id": "file", "title": "File the sheet", "owner": "lead", "requires": ["sign"]},
]


def banana_count(tenant: Tenant, **fields: object) -> Workflow:
    """The tenant's own workflow `banana-count`: two steps by tools, one by a person, one by thought."""
    values = {
        "slug": "banana-count",
        "title": "Banana count",
        "definition": "Counts the bananas of the day.",
        "exemplars": ["How many bananas are left today?", "Zähle die Bananen"],
        "nodes": NODES,
    }
    return Workflow.objects.create(tenant=tenant, **(values | fields))


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"calls": [{"name": name, "arguments": arguments}]}


TIME = call("current_time")
COUNT = call("calculate", expression="6 * 7")
WRONG = call("calculate", expression="6 *")
PROGRESS = call("get_workflow_progress", workflowId="banana-count")


def record(node: str, completed: bool = True, note: str = "") -> dict[str, object]:
    return call("record_workflow_step", workflowId="banana-count", nodeId=node, completed=completed, note=note)


def calls_of(thread: Thread) -> list[ToolCall]:
    return list(last_turn(thread).calls.order_by("round", "index"))
