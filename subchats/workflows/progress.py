"""How far a workflow has come in a conversation, sub-chats included: said so, seen, or outstanding (J-36 to J-38, C19)."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import Q, QuerySet

from assistants.models import Thread, ToolCall
from subchats.models import WorkflowRecord

from .shape import Node, Workflow


class State(StrEnum):
    """The three states of a step (section 4.4)."""

    RECORDED = "recorded_done"
    INFERRED = "inferred_done"
    OUTSTANDING = "outstanding"


@dataclass(frozen=True)
class Step:
    """A step and what is known of it. `attempts`: how often the tool of it that was called most was called, whatever
    came of it (W1). `missing`: the steps that should have been done before it, though it is done. `seen_since`: it was
    recorded as not done, and all its operations have succeeded after that; only a new record says that it is done."""

    node: Node
    order: int
    state: State
    attempts: int = 0
    record: WorkflowRecord | None = None
    missing: tuple[Node, ...] = ()
    seen_since: bool = False

    @property
    def is_done(self) -> bool:
        return self.state is not State.OUTSTANDING

    @property
    def note(self) -> str:
        return self.record.note if self.record else ""


@dataclass(frozen=True)
class Progress:
    """The steps in order and the first that is outstanding (J-38): what stands above it is done, so it can begin."""

    workflow: Workflow
    steps: tuple[Step, ...]

    @property
    def next(self) -> Step | None:
        return next((step for step in self.steps if not step.is_done), None)

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)


def progress_of(workflow: Workflow, thread: Thread) -> Progress:
    """Where the workflow stands in the whole conversation that the thread belongs to, over all its turns (J-36).

    What somebody recorded wins over what was seen, the newest record first. Seen is a step all of whose operations
    succeeded somewhere in the conversation; failed, refused, stopped and withheld calls prove nothing.
    """
    records = _newest_records(workflow, thread)
    tried, succeeded = _operations(workflow, thread)
    states = {node.id: _state(node, records.get(node.id), succeeded) for node in workflow.nodes}
    outstanding = {node_id for node_id, state in states.items() if state is State.OUTSTANDING}
    steps = tuple(
        Step(
            node=node,
            order=order,
            state=states[node.id],
            attempts=max((tried[name] for name in node.operations), default=0),
            record=records.get(node.id),
            missing=() if node.id in outstanding else tuple(workflow.among(outstanding.intersection(node.requires))),
            seen_since=_seen_since(node, records.get(node.id), succeeded),
        )
        for order, node in enumerate(workflow.nodes, 1)
    )
    return Progress(workflow, steps)


def calls_of_tree(thread: Thread) -> QuerySet[ToolCall]:
    """Every call of the conversation that the thread belongs to, in all its sub-chats."""
    return calls_below(thread.root_id_or_own)


def calls_below(root: Any) -> QuerySet[ToolCall]:
    """The same by the id of the thread at the top."""
    return ToolCall.objects.filter(Q(turn__thread=root) | Q(turn__thread__root=root))


def _state(node: Node, record: WorkflowRecord | None, succeeded: dict[str, datetime]) -> State:
    if record is not None:
        return State.RECORDED if record.completed else State.OUTSTANDING
    seen = bool(node.operations) and set(node.operations) <= succeeded.keys()
    return State.INFERRED if seen else State.OUTSTANDING


def _seen_since(node: Node, record: WorkflowRecord | None, succeeded: dict[str, datetime]) -> bool:
    if record is None or record.completed or not node.operations:
        return False
    return all(name in succeeded and succeeded[name] > record.created for name in node.operations)


def _newest_records(workflow: Workflow, thread: Thread) -> dict[str, WorkflowRecord]:
    said = WorkflowRecord.objects.filter(root=thread.root_id_or_own, workflow=workflow.id)
    return {record.node: record for record in said.select_related("user").order_by("pk")}


def _operations(workflow: Workflow, thread: Thread) -> tuple[Counter[str], dict[str, datetime]]:
    """How often each operation was called in the conversation, and when those that did succeeded last."""
    named = {name for node in workflow.nodes for name in node.operations}
    tried: Counter[str] = Counter()
    succeeded: dict[str, datetime] = {}
    calls = calls_of_tree(thread).filter(name__in=named).order_by("settled")
    for name, outcome, guard, settled in calls.values_list("name", "outcome", "guard", "settled"):
        tried[name] += 1
        # What the guard withheld no assistant has read: the step has nothing to show.
        if settled and outcome == ToolCall.Outcome.OK and (guard or {}).get("action") != "withheld":
            succeeded[name] = settled
    return tried, succeeded
