"""Hands out several independent tasks at once and brings all reports back together (T-01, J-11)."""

from collections.abc import Sequence
from typing import Annotated, Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from assistants.errors import CodedError
from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.delegation.roster import delegates_of
from subchats.planning.admission import Wanted, hand_over

from .invoke_assistant import introduce

LABEL_CHARS = 60

Task = Annotated[str, Field(min_length=1, max_length=20_000, description="The whole task; it sees nothing else of this chat.")]
Facts = Annotated[str, Field(max_length=50_000, description="Facts from this chat that it needs.")]
Label = Annotated[str, Field(max_length=100, description="What its report is to be called. Left out: the task's first words.")]


class ForAssistant(BaseModel):
    """A task for an assistant that is set up here."""

    model_config = ConfigDict(extra="forbid", strict=True)

    assistant: Annotated[str, Field(min_length=1, max_length=80, description="Its short name, exactly as listed.")]
    task: Task
    context: Facts = ""
    label: Label = ""


class ForAgent(BaseModel):
    """A task for an agent that is built for it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    task: Task
    prompt: Annotated[str, Field(min_length=1, max_length=20_000, description="The agent's instructions.")]
    tools: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=50, description="Names of your own tools that it may use; may be empty."),
    ]
    based_on: Annotated[str, Field(max_length=80, description="An assistant whose instructions and model it starts from.")] = ""
    context: Facts = ""
    label: Label = ""


def kind_of(item: Any) -> str:
    """Which of the two shapes an item is meant to have."""
    named = "assistant" in item if isinstance(item, dict) else isinstance(item, ForAssistant)
    return "<for whom>" if named else "<built>"


Item = Annotated[
    Annotated[ForAssistant, Tag("<for whom>")] | Annotated[ForAgent, Tag("<built>")],
    Discriminator(kind_of),
]


def describe_items(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition:
    """Names the assistants as `invoke_assistant` does, and says how many tasks go into one call."""
    schema = dict(plain.parameters_json_schema)
    tasks = {**schema["properties"]["tasks"], "maxItems": most_tasks()}
    shapes = dict(schema["$defs"])
    delegates = delegates_of(definition, thread)
    if delegates:
        fields = shapes["ForAssistant"]["properties"]
        named = {**fields["assistant"], "enum": [each.slug for each in delegates]}
        shapes["ForAssistant"] = {**shapes["ForAssistant"], "properties": {**fields, "assistant": named}}
        # Two shapes that exclude each other by their required fields; not every provider knows `oneOf`.
        tasks["items"] = {"anyOf": tasks["items"].get("oneOf", [])}
    else:
        tasks["items"] = {"$ref": "#/$defs/ForAgent"}
        shapes.pop("ForAssistant")
    schema |= {"properties": {**schema["properties"], "tasks": tasks}, "$defs": shapes}
    told = ["The assistants:", *map(introduce, delegates)] if delegates else []
    description = "\n".join([plain.description or "", *told])
    return ToolDefinition(name=plain.name, description=description, parameters_json_schema=schema)


@tool(effect="idempotent", delegates=True, in_transaction=True, describe=describe_items, free_text=("tasks",))
def spawn_agents(
    context: ToolContext,
    tasks: Annotated[
        list[Item], Field(min_length=2, description="The tasks, each for an assistant or for an agent built for it.")
    ],
) -> Any:
    """Hand out two or more independent tasks at once and get all reports together, each with its label.

    Each works in a chat of its own and sees only its task and context. They run at the same time and learn nothing of
    each other, so a task that needs an earlier report does not belong here: hand it over afterwards. Write a plan
    first. When you combine numbers or rows from several reports, cache them with cache_assembled_table before you
    report them onward, instead of repeating them as prose.
    """
    if len(tasks) > most_tasks():
        raise CodedError(
            code="BAD_ARGUMENTS",
            field="tasks",
            message=f"These are {len(tasks)} tasks; {most_tasks()} at most can be handed out in one call.",
            fix="Hand out fewer, or join some of them.",
        )
    return hand_over(context, wanted_of(tasks), fan_out=True)


def most_tasks() -> int:
    """How many sub-chats one call may open."""
    return int(settings.TASKMONKEY["MAX_FAN_OUT"])


def wanted_of(tasks: Sequence[ForAssistant | ForAgent]) -> list[Wanted]:
    """The items as they are handed over, each with a label that no other one has."""
    labels = _labels(tasks)
    return [_wanted(item, labels[place], f"tasks[{place}].") for place, item in enumerate(tasks)]


def _wanted(item: ForAssistant | ForAgent, label: str, place: str) -> Wanted:
    if isinstance(item, ForAssistant):
        return Wanted(task=item.task, context=item.context, assistant=item.assistant, label=label, place=place)
    return Wanted(
        task=item.task,
        context=item.context,
        prompt=item.prompt,
        tools=tuple(item.tools),
        based_on=item.based_on,
        label=label,
        place=place,
    )


def _labels(tasks: Sequence[ForAssistant | ForAgent]) -> list[str]:
    labels: list[str] = []
    for place, item in enumerate(tasks, 1):
        words = " ".join((item.label.strip() or item.task).split()) or "Task"
        label = words if item.label.strip() or len(words) <= LABEL_CHARS else words[: LABEL_CHARS - 1] + "…"
        labels.append(f"{label} ({place})" if label in labels else label)
    return labels
