"""Workflows and their progress as data for a model; no key is called role, system, instruction or prompt (J-34, J-36)."""

from typing import Any

from .matcher import Match
from .progress import Progress, Step
from .shape import Node, Workflow

FOR_A_PERSON = (
    "No tool does this. Say what has to be done and by whom, and record the step once the person says that it is done."
)
NOTHING_FOUND = "No workflow shares a word with this task. Try other words, or do it without a workflow."


def matches_as_data(matches: list[Match]) -> dict[str, Any]:
    """The candidates, best first; none at all with a hint (J-33)."""
    found = [
        {
            "workflowId": match.workflow.id,
            "title": match.workflow.title,
            "definition": match.workflow.definition,
            "steps": len(match.workflow.nodes),
            "sharedWords": list(match.words),
        }
        for match in matches
    ]
    return {"workflows": found} if found else {"workflows": [], "hint": NOTHING_FOUND}


def workflow_as_data(workflow: Workflow) -> dict[str, Any]:
    """The whole workflow, every step in order with all its fields (J-34)."""
    return {
        "workflowId": workflow.id,
        "title": workflow.title,
        "definition": workflow.definition,
        "exemplars": list(workflow.exemplars),
        "nodes": [_node_as_data(node, order) for order, node in enumerate(workflow.nodes, 1)],
    }


def progress_as_data(progress: Progress) -> dict[str, Any]:
    """Each step with its state, and the next one with all that is needed to do it (J-36)."""
    ahead = progress.next
    return {
        "workflowId": progress.workflow.id,
        "title": progress.workflow.title,
        "done": progress.done,
        "steps": [_step_as_data(step) for step in progress.steps],
        "next": _node_as_data(ahead.node, ahead.order) if ahead else None,
    }


def warning_of(step: Step) -> str:
    """What goes wrong because the step was done before one that it rests on; else nothing."""
    if not step.missing:
        return ""
    before = ", ".join(f"“{node.title}”" for node in step.missing)
    return f"Done before {before}. {step.node.hazard}".strip()


def _node_as_data(node: Node, order: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "nodeId": node.id,
        "order": order,
        "title": node.title,
        "owner": node.owner,
        "operations": list(node.operations),
        "produces": node.produces,
        "requires": list(node.requires),
        "hazard": node.hazard,
        "note": node.note,
    }
    return row | {"hint": FOR_A_PERSON} if node.is_for_a_person else row


def _step_as_data(step: Step) -> dict[str, Any]:
    row: dict[str, Any] = {"nodeId": step.node.id, "title": step.node.title, "state": str(step.state), "note": step.note}
    if step.node.is_for_a_person:
        row["owner"] = step.node.owner
    if step.attempts > 1:
        row["attempts"] = step.attempts
    if warning := warning_of(step):
        row["warning"] = warning
    if step.seen_since:
        row["hint"] = "Its tools have succeeded since it was marked as not done: record it if it is done now."
    return row
