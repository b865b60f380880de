"""Ends a sub-task whose answer lies outside the assistant's own field (J-22 to J-25)."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from assistants.errors import CodedError
from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.outcomes import Done
from assistants.tools.registry import tool
from subchats.delegation.hand_backs import make_hand_back, store_hand_back
from subchats.models import Delegation


def only_for_children(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Only a sub-chat whose report somebody waits for can hand back (J-22), and not to a person who writes into it later."""
    return plain if thread.parent_id and not has_returned(thread) else None


def has_returned(thread: Thread) -> bool:
    """Whether the sub-chat's report went up already."""
    return Delegation.objects.filter(child=thread, returned_at__isnull=False).exists()


@tool(
    effect="idempotent",
    ends_turn="last",
    in_transaction=True,
    describe=only_for_children,
    free_text=("whatIsNeeded", "whatIEstablished"),
)
def hand_back(
    context: ToolContext,
    whatIsNeeded: Annotated[  # the wire name
        str, Field(max_length=4000, description="The question that the next specialist has to answer.")
    ] = "",
    whatIEstablished: Annotated[  # noqa: N803
        str, Field(max_length=20_000, description="What you worked out, so that nobody does it again.")
    ] = "",
    owningAgent: Annotated[  # noqa: N803
        str,
        Field(max_length=80, description="Only a name that you saw in your instructions or documents. Leave it out if unsure."),
    ] = "",
) -> Any:
    """Give this sub-task back as soon as you see that its answer lies outside your own tools and documents.

    Do it at once, not after trying elsewhere and not after reporting a failure. It ends your work: write nothing
    after it. When you pass on numbers or rows from several sources, cache them with cache_assembled_table first.
    """
    delegation = Delegation.objects.filter(child=context.thread).first()
    if delegation is None:
        raise CodedError(
            code="NOBODY_ABOVE",
            message="This is not a sub-chat: there is nobody to hand the task back to.",
            fix="Answer the person with what you have.",
            correctable=False,
        )
    if delegation.returned_at:
        raise CodedError(
            code="REPORTED_ALREADY",
            message="Your report went up already, and nobody waits for this one: a person asks you now.",
            fix="Say to the person what is needed, and what you have established.",
        )
    back = make_hand_back(context.thread, needed=whatIsNeeded, established=whatIEstablished, owner=owningAgent)
    store_hand_back(delegation, back)
    return Done(asdict(back), ends_turn="hand_back")
