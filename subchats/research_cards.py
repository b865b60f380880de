"""What the card of a research's results shows: the numbered results, what they rest on, and what was read for them."""

from dataclasses import dataclass
from typing import Any

from assistants.models import ToolCall
from subchats.models import CuratedResult, Evidence, ExplorerTask, ResearchRun
from subchats.research.claims import unsupported


@dataclass(frozen=True)
class Coverage:
    """What was read for a research: how many explorers, in which folders, by which methods, how much evidence stood."""

    explorers: int
    grounded: int
    folders: list[str]
    methods: list[str]
    variants: int
    evidence: int
    refused: int


def results_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card shows; a refused or an unfinished emission has no run."""
    run = ResearchRun.objects.filter(turn=call.turn, finished__isnull=False).first() if call.outcome == "ok" else None
    if run is None:
        return {"run": None}
    results = list(run.results.prefetch_related("evidence"))
    return {"run": run, "results": results, "coverage": coverage_of(run), "unsupported": unsupported(run.answer, results)}


def coverage_of(run: ResearchRun) -> Coverage:
    """The run's tasks and evidence, counted."""
    tasks = list(run.tasks.select_related("root"))
    return Coverage(
        explorers=len(tasks),
        grounded=sum(1 for task in tasks if task.state == ExplorerTask.State.GROUNDED),
        folders=sorted({task.root.name for task in tasks if task.root}),
        methods=sorted({task.method for task in tasks}),
        variants=len({variant for task in tasks for variant in task.variants}),
        evidence=Evidence.objects.filter(run=run).count(),
        refused=sum(len(task.faults) for task in tasks),
    )


def result_of_feedback(feedback_id: str) -> CuratedResult | None:
    """The result with this `<session>:<number>`; None for anything else."""
    session, _, number = feedback_id.rpartition(":")
    if not session or not number.isdecimal() or len(number) > 4:
        return None
    return CuratedResult.objects.select_related("run__turn__thread").filter(run__session=session, number=int(number)).first()
