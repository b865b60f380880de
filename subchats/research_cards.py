"""A research on the page: its numbered results, what they rest on, what was read for them, and what a failed one tried."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from assistants.models import ToolCall, Turn
from assistants.models.prepared import Prepared
from assistants.rendering.citations import Citation
from subchats.models import CuratedResult, Delegation, Evidence, ExplorerTask, ResearchRun
from subchats.research.claims import unsupported
from subchats.research.run import INCOMPLETE

SHOWN_EVIDENCE = 5


@dataclass(frozen=True)
class Shown:
    """One result as the card has it. `summary` is empty where it would only say the quote again."""

    result: CuratedResult
    anchor: str
    summary: str
    evidence: list[Evidence]


@dataclass(frozen=True)
class Reading:
    """What one explorer did: its folder and wordings, the documents that it opened, its quotes that stood and that did not."""

    folder: str
    variants: list[str]
    documents: list[str]
    quotes: int
    refused: int


@dataclass(frozen=True)
class Coverage:
    """What was read for a research, explorer by explorer, and in all."""

    readings: list[Reading]
    folders: list[str] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)
    documents: int = 0
    quotes: int = 0
    refused: int = 0


def results_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card shows; a refused or an unfinished emission has no run."""
    run = ResearchRun.objects.filter(turn=call.turn, finished__isnull=False).first() if call.outcome == "ok" else None
    if run is None:
        return {"run": None}
    results = list(run.results.prefetch_related("evidence"))
    return {
        "run": run,
        "results": [_shown(run, each) for each in results],
        "coverage": coverage_of(run),
        "unsupported": unsupported(run.answer, results),
    }


def citations_in(turns: Collection[int]) -> dict[int, dict[int, Citation]]:
    """Where the numbers in the answers of these turns lead: to the results on their cards."""
    found: dict[int, dict[int, Citation]] = {}
    results = CuratedResult.objects.filter(run__turn__in=turns, run__finished__isnull=False).select_related("run")
    for result in results:
        found.setdefault(result.run.turn_id, {})[result.number] = Citation(anchor_of(result), result.title)
    return found


def coverage_of(run: ResearchRun) -> Coverage:
    """The run's tasks and evidence, counted. Three queries."""
    tasks = list(run.tasks.select_related("root").order_by("pk"))
    opened = _opened(tasks)
    quotes = dict.fromkeys([each.pk for each in tasks], 0)
    for task in Evidence.objects.filter(run=run).values_list("task", flat=True):
        quotes[task] = quotes.get(task, 0) + 1
    readings = [
        Reading(
            folder=task.root.name if task.root else "",
            variants=list(task.variants),
            documents=opened.get((task.call_id, task.position), []),
            quotes=quotes[task.pk],
            refused=len(task.faults),
        )
        for task in tasks
    ]
    return Coverage(
        readings=readings,
        folders=sorted({each.folder for each in readings if each.folder}),
        variants=list(dict.fromkeys(variant for each in readings for variant in each.variants)),
        documents=len({name for each in readings for name in each.documents}),
        quotes=sum(quotes.values()),
        refused=sum(each.refused for each in readings),
    )


def failed_researches(turns: Collection[int]) -> dict[int, dict[str, Any]]:
    """What the researches among these turns tried that ended without results, and the evidence that they had by then."""
    return {
        run.turn_id: {
            "coverage": coverage_of(run),
            "evidence": list(run.evidence.all()[:SHOWN_EVIDENCE]),
            "chat_id": run.turn.thread.chat_id,
        }
        for run in _FAILED.rows(turns)
    }


_FAILED = Prepared(
    lambda turns: ResearchRun.objects.filter(
        turn__pk__in=turns, finished=None, turn__state=Turn.State.FAILED, turn__reason=INCOMPLETE
    ).select_related("turn__thread")
)


def result_of_feedback(feedback_id: str) -> CuratedResult | None:
    """The result with this `<session>:<number>`; None for anything else."""
    session, _, number = feedback_id.rpartition(":")
    if not session or not number.isdecimal() or len(number) > 4:
        return None
    return CuratedResult.objects.select_related("run__turn__thread").filter(run__session=session, number=int(number)).first()


def anchor_of(result: CuratedResult) -> str:
    """The id of the result's element on the page of its conversation."""
    return f"r{result.run.session}-{result.number}"


def address_of(result: CuratedResult) -> str:
    """The page of the conversation at the result, however far back it stands."""
    turn = result.run.turn
    call = turn.calls.filter(name="emit_autorag_results", outcome="ok").select_related("message").first()
    at = f"?at={call.message.sequence}" if call and call.message else ""
    return f"{reverse('thread', args=[turn.thread.chat_id])}{at}#{anchor_of(result)}"


def _shown(run: ResearchRun, result: CuratedResult) -> Shown:
    evidence = list(result.evidence.all())
    beginning = " ".join(result.summary.split()).removesuffix("…").rstrip()
    repeats = any(" ".join(each.excerpt.split()).startswith(beginning) for each in evidence)
    summary = "" if repeats else result.summary
    return Shown(result, f"r{run.session}-{result.number}", summary, evidence)


def _opened(tasks: Collection[ExplorerTask]) -> dict[tuple[Any, int], list[str]]:
    """The documents that explorers have opened, by the places of their tasks."""
    sent = Delegation.objects.filter(call__in={each.call_id for each in tasks})
    places = {child: (call, position) for child, call, position in sent.values_list("child", "call", "position")}
    reads = ToolCall.objects.filter(turn__thread__in=places, name="read", outcome=ToolCall.Outcome.OK).order_by("pk")
    found: dict[tuple[Any, int], list[str]] = {}
    for child, arguments in reads.values_list("turn__thread", "arguments"):
        name, names = str(arguments.get("path") or ""), found.setdefault(places[child], [])
        if name and name not in names:
            names.append(name)
    return found
