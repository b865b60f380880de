"""What every workflow must fulfil, whether it stands in code or was written by a tenant's admin (J-32, J-35)."""

import re
from collections.abc import Collection, Iterable
from graphlib import CycleError, TopologicalSorter

from assistants.errors import CodedError
from assistants.tools.registry import find_tool

from .shape import OPERATOR, Node, Workflow

MAX_NODES = 40
_ID = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*\Z")


def workflow_problems(
    workflow: Workflow, *, taken: Collection[str] = (), owners: Collection[str] | None = None
) -> list[CodedError]:
    """Every rule that the workflow breaks. A step's problem has the field `nodes.<place from 0>.<field>`.

    `taken` are ids of other workflows; with `owners` a step must belong to one of these slugs or to the operator.
    """
    return [
        *_problems_of_the_whole(workflow, taken),
        *(problem for place, node in enumerate(workflow.nodes) for problem in _node_problems(place, node, owners)),
        *_link_problems(workflow),
    ]


def _problems_of_the_whole(workflow: Workflow, taken: Collection[str]) -> Iterable[CodedError]:
    if workflow.id in taken:
        message = f"There is a workflow “{workflow.id}” already."
        yield CodedError(code="WORKFLOW_ID_TAKEN", field="slug", message=message, fix="Choose another short name.")
    if not workflow.exemplars:
        message = "Without an example of a request nobody finds it."
        yield CodedError(code="EXEMPLARS_MISSING", field="exemplars", message=message, fix="Write down at least one.")
    if not workflow.nodes:
        yield CodedError(code="NODES_MISSING", field="nodes", message="It has no steps.", fix="Write down at least one.")
    if len(workflow.nodes) > MAX_NODES:
        message = f"It has {len(workflow.nodes)} steps; at most {MAX_NODES} can be followed."
        yield CodedError(code="NODES_TOO_MANY", field="nodes", message=message, fix="Make two workflows of it.")


def _node_problems(place: int, node: Node, owners: Collection[str] | None) -> Iterable[CodedError]:
    if not _ID.match(node.id):
        yield _at(place, "id", "NODE_ID_BAD", f"“{node.id}” is no id.", "Use small letters, digits and hyphens.")
    if not node.title.strip():
        yield _at(place, "title", "NODE_TITLE_MISSING", "The step has no title.", "Say in a few words what is done.")
    if not node.owner.strip():
        yield _at(place, "owner", "OWNER_MISSING", "Nobody does this step.", "Choose an assistant, or a person.")
    elif owners is not None and node.owner != OPERATOR and node.owner not in owners:
        message = f"There is no assistant “{node.owner}” in this team."
        yield _at(place, "owner", "OWNER_UNKNOWN", message, "Choose one of the team's assistants, or a person.")
    if node.is_for_a_person:
        yield from _operator_problems(place, node)
    for name in node.operations:
        if find_tool(name) is None:
            message = f"There is no tool “{name}” on this site."
            yield _at(place, "operations", "OPERATION_UNKNOWN", message, "Take it off the step.")


def _operator_problems(place: int, node: Node) -> Iterable[CodedError]:
    """What a person does no tool does, so nobody must look for one (J-35)."""
    if node.operations:
        message = "A person does this step, so no tool can be seen doing it."
        yield _at(place, "operations", "OPERATOR_HAS_OPERATIONS", message, "Untick the tools, or give it to an assistant.")
    if not node.note.strip():
        message = "A person has to do this, and nothing says what and who."
        yield _at(place, "note", "OPERATOR_NOTE_MISSING", message, "Say who does what.")


def _link_problems(workflow: Workflow) -> Iterable[CodedError]:
    """Ids are unique, what is required exists, stands further up, and leads in no circle."""
    places: dict[str, int] = {}
    for place, node in enumerate(workflow.nodes):
        if node.id in places:
            yield _at(place, "id", "NODE_ID_TWICE", f"“{node.id}” is the id of two steps.", "Give one of them another id.")
        places.setdefault(node.id, place)
    circle = _circle(workflow)
    for place, node in enumerate(workflow.nodes):
        for needed in node.requires:
            if needed not in places:
                message = f"It requires “{needed}”, and there is no such step."
                yield _at(place, "requires", "REQUIRES_UNKNOWN", message, "Use the id of another step.")
            elif places[needed] > place and node.id not in circle:
                message = f"It stands before “{needed}”, which it requires."
                yield _at(place, "requires", "NODE_TOO_EARLY", message, "Move it below that step.")
    if circle:
        message = f"These steps wait for each other: {' → '.join(circle)}."
        place = min(places[each] for each in circle)
        yield _at(place, "requires", "WORKFLOW_CYCLE", message, "Take one of them out of the other's requirements.")


def _circle(workflow: Workflow) -> list[str]:
    known = {node.id for node in workflow.nodes}
    try:
        TopologicalSorter({node.id: known.intersection(node.requires) for node in workflow.nodes}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _at(place: int, field: str, code: str, message: str, fix: str) -> CodedError:
    return CodedError(code=code, field=f"nodes.{place}.{field}", message=message, fix=fix)
