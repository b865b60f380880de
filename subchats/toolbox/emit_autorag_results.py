"""Ends a research with its numbered results (A-10, A-11)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.outcomes import Done
from assistants.tools.registry import tool
from subchats.research.emission import emit

Short = Annotated[str, Field(max_length=120)]


class Excerpt(BaseModel):
    """Words of a result, and the line they stand in."""

    model_config = ConfigDict(extra="forbid")

    excerpt: Annotated[str, Field(max_length=20_000)]
    lineNumber: Annotated[int, Field(ge=1)] | None = None  # the wire name


class NumberedResult(BaseModel):
    """One result for the person."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=1, le=200)]
    title: Annotated[str, Field(min_length=1, max_length=300)]
    summary: Annotated[str, Field(min_length=1, max_length=8000)]
    evidence: Annotated[list[Excerpt], Field(max_length=50)]
    confidence: float


class EvidenceRef(BaseModel):
    """A piece of evidence by its id, or by its words and where they stand."""

    model_config = ConfigDict(extra="forbid")

    method: Short = ""
    source: Annotated[str, Field(max_length=600)] = ""
    excerpt: Annotated[str, Field(max_length=20_000)] = ""
    content: Annotated[str, Field(max_length=20_000)] = ""
    retrievalResultId: Short = ""
    chunkIndex: int | None = None
    lineNumber: Annotated[int, Field(ge=1)] | None = None
    stableEvidenceId: Annotated[str, Field(max_length=160)] = ""
    retrieverMix: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=8)] = []
    parserType: Short = ""
    documentType: Short = ""
    documentArea: Short = ""
    evidenceType: Short = ""
    evidenceLocation: Short = ""
    confidence: float | None = None


class MappingEntry(BaseModel):
    """What a result comes from."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=1, le=200)]
    source: Annotated[str, Field(min_length=1, max_length=600)]
    method: Annotated[str, Field(min_length=1, max_length=120)]
    content: Annotated[str, Field(max_length=20_000)]
    evidenceRefs: Annotated[list[EvidenceRef], Field(max_length=50)] | None = None


def only_for_research(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Nobody else has a research to end."""
    return plain if definition.research else None


@tool(
    effect="idempotent",
    ends_turn="last",
    in_transaction=True,
    describe=only_for_research,
    free_text=("answer", "results", "mapping", "warnings"),
)
def emit_autorag_results(
    context: ToolContext,
    answer: Annotated[
        str, Field(min_length=1, max_length=50_000, description="The answer, with [1], [2] … behind its claims.")
    ],
    results: Annotated[list[NumberedResult], Field(max_length=50, description="The numbered results.")],
    mapping: Annotated[
        list[MappingEntry], Field(max_length=50, description="For each number its source, method and evidence.")
    ],
    warnings: Annotated[list[Annotated[str, Field(max_length=400)]], Field(max_length=50)] = [],  # noqa: B006  read only
) -> Any:
    """End the research: the answer and its numbered results, each joined to evidence. Call it once, as the last thing.

    Only what an explorer has brought back counts, and every excerpt must stand in its document. Name evidence by its
    evidenceId as stableEvidenceId, with its excerpt. Write nothing after it.
    """
    told = emit(
        context,
        answer,
        [each.model_dump() for each in results],
        [each.model_dump() for each in mapping],
        warnings,
    )
    return Done(told, ends_turn="results")
