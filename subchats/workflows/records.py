"""Somebody says how a step stands, and a person has a workflow run again from a step (J-37)."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from assistants.models import Message, Thread, ToolCall, User
from assistants.tools.registry import find_tool
from assistants.turns import events, lifecycle
from subchats.models import WorkflowRecord

from .shape import Node, Workflow


def record_step(
    thread: Thread,
    workflow: Workflow,
    node: Node,
    *,
    completed: bool,
    note: str = "",
    call: ToolCall | None = None,
    user: User | None = None,
) -> WorkflowRecord:
    """Stores that a step of the thread's conversation is done, or is not whatever was seen. Once for one call."""
    with transaction.atomic():
        redraw_panels(thread)
        if call and (known := WorkflowRecord.objects.filter(call=call).first()):
            return known
        record = WorkflowRecord.objects.create(
            root_id=thread.root_id_or_own,
            workflow=workflow.id,
            node=node.id,
            completed=completed,
            note=note,
            call=call,
            user=user,
        )
    return record


def run_from(thread: Thread, workflow: Workflow, node: Node, *, by: User | None, key: str = "") -> None:
    """Takes back that the step and all that rests on it are done, and asks the conversation's assistant to go on there.

    What the steps before produced stays. A known `key` does nothing a second time. Raises what `send_message` raises;
    then nothing is taken back either.
    """
    root = thread.root or thread
    names = {
        "workflow": gettext(workflow.title),
        "id": workflow.id,
        "number": workflow.order_of(node),
        "step": gettext(node.title),
        "node": node.id,
    }
    text = gettext(
        "Run the workflow “%(workflow)s” (%(id)s) again from step %(number)s, “%(step)s” (%(node)s); keep the outputs of the"
        " steps before it. Record each step that is done again."
    )
    again = gettext("To be run again from “%(step)s”.") % names
    with transaction.atomic():
        redraw_panels(root)
        if key and Message.objects.filter(thread=root, client_key=key).exists():
            return
        WorkflowRecord.objects.bulk_create(
            WorkflowRecord(root=root, workflow=workflow.id, node=each.id, completed=False, note=again, user=by)
            for each in workflow.from_here(node)
        )
        lifecycle.send_message(root, author=by, text=text % names, client_key=key)


def copy_records(source: Thread, fork: Thread, *, until: datetime) -> None:
    """What was said about steps until then holds in a copied conversation too: a step marked as not done stays so."""
    said = WorkflowRecord.objects.filter(root=source.root_id_or_own, created__lte=until).order_by("pk")
    WorkflowRecord.objects.bulk_create(
        WorkflowRecord(
            root=fork, workflow=each.workflow, node=each.node, completed=each.completed, note=each.note, user_id=each.user_id
        )
        for each in said
    )


def repeated_effects(nodes: list[Node]) -> list[str]:
    """The operations of these steps that do something outside each time they run."""
    names = dict.fromkeys(name for node in nodes for name in node.operations)
    return [name for name in names if (tool := find_tool(name)) and tool.effect == ToolCall.Effect.ONCE]


def redraw_panels(thread: Thread) -> None:
    """Every open page of the conversation shows the rail anew. This takes the threads' rows from the bottom up, as a
    sub-chat does that ends, so that no two wait for each other."""
    root = thread.root_id_or_own
    below = Thread.objects.filter(root=root).order_by("-pk").values_list("pk", flat=True)
    for each in [*below, root]:
        events.record(each, "panel")
