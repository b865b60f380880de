"""Puts a question with checkboxes to the person and ends the turn (J-26 to J-31)."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from assistants.errors import NotAllowed
from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.outcomes import Done
from assistants.tools.registry import tool

INSTRUCTION = (
    "The person already sees this as a prompt with checkboxes. Do not repeat the question or its options, and call no"
    " other tool. Your turn is complete; the answer comes as the next message."
)


def _distinct(options: list[str]) -> list[str]:
    if len({option.strip().casefold() for option in options}) != len(options):
        raise ValueError("options must differ from each other")
    return options


Option = Annotated[str, Field(min_length=1, max_length=200)]


def only_who_may_ask(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """As a sub-chat not every assistant may put questions to the person (decision 7)."""
    return plain if definition.may_ask or not thread.parent_id else None


@tool(ends_turn="alone", in_transaction=True, describe=only_who_may_ask, free_text=("question", "options"))
def ask_clarifying_question(
    context: ToolContext,
    question: Annotated[str, Field(min_length=1, max_length=500, description="One short question.")],
    options: Annotated[
        list[Option],
        Field(min_length=2, max_length=6, description="2 to 6 short readings that do not overlap."),
        AfterValidator(_distinct),
    ],
    allowFreeText: Annotated[bool, Field(description="Whether the person may also type an answer.")] = True,  # noqa: N803
) -> Any:
    """Ask the person which of a few distinct readings of an ambiguous request they mean.

    Use it only when the request really has 2 to 6 readings that do not overlap and a wrong guess would waste work.
    This call is your entire reply for this turn: write nothing after it and call no other tool.
    """
    if context.turn.root_id and not context.definition.may_ask:
        raise NotAllowed(
            code="MAY_NOT_ASK",
            message="You may not put questions to the person: the assistant that gave you this task waits for you.",
            fix="Go on with the likeliest reading and say so in your answer, or hand the task back.",
            correctable=False,
        )
    payload = {"question": question, "options": options, "allowFreeText": allowFreeText, "instruction": INSTRUCTION}
    return Done(payload, ends_turn="question")
