"""What a page shows of workflows: the rail beside the conversation, and the cards of the four tools."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from assistants.conversations.present import Present
from assistants.models import Thread, ToolCall
from assistants.models.prepared import Prepared
from subchats.models import WorkflowRecord

from .catalogue import workflows_of
from .drawing import draw
from .progress import Progress, Step, calls_below, progress_of
from .records import repeated_effects
from .shape import Node, Workflow

MOST_RAILS = 2
FOLLOWING = ("get_workflow_progress", "record_workflow_step")


@dataclass(frozen=True)
class Stop:
    """One step on the rail. `effects`: what would be done once more outside if it were run again from here."""

    step: Step
    is_next: bool
    again: bool
    effects: list[str]


@dataclass(frozen=True)
class Rail:
    """A workflow that the conversation follows. `key` makes running it again harmless when it is sent twice."""

    workflow: Workflow
    done: int
    stops: list[Stop]
    key: str


def rails_of(present: Present) -> dict[str, Any] | None:
    """The workflows that the whole conversation has touched, the last one first; None if there are none."""
    thread = present.thread
    known = {workflow.id: workflow for workflow in workflows_of(thread.tenant_id)} if (ids := _touched(thread)) else {}
    rails = [_rail(progress_of(known[each], thread), thread) for each in ids if each in known]
    return {"rails": rails[:MOST_RAILS]} if rails else None


def card_of(call: ToolCall) -> dict[str, Any]:
    """What the card of a workflow tool shows: what the call was given back, however things stand by now."""
    data = _data_of(call)
    if data is None:
        return {"data": None}
    return {"data": data, "drawing": draw(_workflow_in(data)) if data.get("nodes") else None}


def _touched(thread: Thread) -> list[str]:
    """The ids that progress was asked for or steps were recorded of, by calls and by people, the newest first."""
    times: dict[str, datetime] = {}
    for workflow, at in _TOUCHED.rows(thread.root_id_or_own):
        times[workflow] = max(at, times.get(workflow, at))
    return sorted(times, key=lambda each: times[each], reverse=True)


def _touches(root: Any) -> "QuerySet[ToolCall, tuple[str, datetime]]":
    calls = calls_below(root).filter(name__in=FOLLOWING, outcome=ToolCall.Outcome.OK).exclude(settled=None)
    given = calls.order_by().values_list(KeyTextTransform("workflowId", "arguments"), "settled")
    return given.union(WorkflowRecord.objects.filter(root=root).order_by().values_list("workflow", "created"), all=True)


_TOUCHED = Prepared(_touches)


def _rail(progress: Progress, thread: Thread) -> Rail:
    ahead = progress.next
    stops = [
        Stop(
            step=step,
            is_next=step is ahead,
            again=not step.node.is_for_a_person and (step.is_done or step.attempts > 0),
            effects=repeated_effects(progress.workflow.from_here(step.node)),
        )
        for step in progress.steps
    ]
    newest = WorkflowRecord.objects.filter(root=thread.root_id_or_own, workflow=progress.workflow.id).first()
    return Rail(progress.workflow, progress.done, stops, f"again-{newest.pk if newest else 0}")


def _data_of(call: ToolCall) -> dict[str, Any] | None:
    """The call's result, unless it was refused or withheld."""
    if call.outcome != ToolCall.Outcome.OK or call.guard:
        return None
    try:
        data = json.loads(call.result)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _workflow_in(data: dict[str, Any]) -> Workflow:
    nodes = tuple(
        Node(each["nodeId"], each["title"], each["owner"], requires=tuple(each["requires"])) for each in data["nodes"]
    )
    return Workflow(data["workflowId"], data["title"], "", (), nodes)
