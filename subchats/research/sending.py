"""Sends explorers out for a dispatch that was accepted, and takes their reports in (A-08, A-14)."""

import json
from dataclasses import replace
from typing import Any

from django.conf import settings

from assistants.documents.roots import roots_for
from assistants.errors import CodedError
from assistants.models import DocumentRoot
from assistants.models.definition import define
from assistants.tools.context import ToolContext
from assistants.turns.budget import is_exhausted
from subchats.delegation import refusals
from subchats.delegation.delegate import Commission, delegate
from subchats.delegation.deliver import SubChatResult
from subchats.delegation.limits import check_depth, check_width
from subchats.models import Delegation, ExplorerTask, ResearchRun

from . import run_log
from .discovery import check_asked
from .dispatch import Roots, Search, Task, check_dispatch
from .evidence import verify
from .explorers import get_explorer, model_reference
from .handoff import HandoffInvalid, is_grounded, parse_handoff
from .payload import EXPLORER


def dispatch(context: ToolContext, payload: dict[str, Any]) -> Any:
    """Carries a `subagent` call out: a diagnostic's answer, or explorers at work and the call left open.

    Raises one of the dispatch codes, `EXPLORER_EXHAUSTED`, or what speaks against any delegation (decision 8).
    """
    run = ResearchRun.objects.filter(turn=context.turn).first()
    explorer = get_explorer(context.thread.tenant)
    roots = {root.name: root for root in roots_for(context.thread)}
    pinned = Roots.pinned({name: root.path for name, root in roots.items()})
    search = Search(run.query if run else None, model_reference(explorer), pinned)
    try:
        accepted = check_dispatch(payload, search)
    except CodedError as error:
        run_log.log_rejection(run, context.call, payload, error)
        raise
    if accepted.kind == "admin":
        return _diagnose(accepted.action, search, run)
    assert run is not None and accepted.filled is not None
    run_log.log_autofill(run, context.call, accepted.filled)
    check_asked(context.thread, run)
    tasks = [_admit_root(task, roots, pinned) for task in accepted.tasks]

    def admitted() -> list[Commission]:
        _check(context, run, len(tasks))
        _record(context, run, tasks)
        return [_commission(explorer, task, root) for task, root in tasks]

    return delegate(context, admitted)


def take_report(delegation: Delegation, result: SubChatResult) -> SubChatResult:
    """An explorer's report as its orchestrator learns it: only what was found in the documents, with its ids (A-08, A-09).

    Counts for the run only if it was handed over whole and answers the query as it was when it was sent out.
    """
    task = ExplorerTask.objects.select_related("run", "root").get(call=delegation.call, position=delegation.position)
    if not result.success:
        return _judged(task, result, faults=[])
    try:
        handoff = parse_handoff(result.reply)
    except HandoffInvalid as error:
        faults = [{"code": fault.code, "path": fault.path} for fault in error.faults]
        return _judged(task, replace(result, success=False, error=_invalid(error)), faults=faults)
    verified = verify(task, handoff)
    report = json.dumps(verified.as_report(handoff), ensure_ascii=False)
    grounded = bool(verified.evidence) and is_grounded(handoff, task.query)
    if handoff.query != task.query:
        refusal = "[HANDOFF_QUERY_MISMATCH] field=assignment.originalQuery fix=Dispatch it again with the query as it is."
        return _judged(task, replace(result, success=False, reply=report, error=refusal), faults=[])
    return _judged(task, replace(result, reply=report), faults=list(verified.refused), grounded=grounded)


def _judged(task: ExplorerTask, result: SubChatResult, *, faults: list[Any], grounded: bool = False) -> SubChatResult:
    task.state = ExplorerTask.State.GROUNDED if grounded else ExplorerTask.State.UNGROUNDED
    task.faults = faults
    task.save(update_fields=["state", "faults"])
    return result


def _invalid(error: HandoffInvalid) -> str:
    named = ", ".join(f"{fault.code} at {fault.path or 'the top'}" for fault in error.faults[:8])
    return f"[HANDOFF_INVALID] field=reply fix=Dispatch it again, or another explorer.\nThe report is no handoff: {named}."


def _admit_root(task: Task, roots: dict[str, DocumentRoot], pinned: Roots) -> tuple[Task, DocumentRoot]:
    name = next(name for name, path in pinned.paths.items() if path == task.root)
    return task, roots[name]


def _check(context: ToolContext, run: ResearchRun, count: int) -> None:
    """What speaks against sending them now; the turn is locked."""
    check_depth(context.thread)
    if is_exhausted(context.turn):
        raise refusals.budget_exhausted()
    most = 1 + settings.TASKMONKEY["RESEARCH_FOLLOW_UPS"]
    if run.rounds >= most:
        raise CodedError(
            code="EXPLORER_EXHAUSTED",
            message=f"Explorers were sent out {run.rounds} times for this question, {most} at most. Curate what there is.",
            fix="Call emit_autorag_results with the evidence so far, and say what is still open.",
            correctable=False,
        )
    check_width(context.turn, count)


def _record(context: ToolContext, run: ResearchRun, tasks: list[tuple[Task, DocumentRoot]]) -> None:
    run.rounds += 1
    run.save(update_fields=["rounds"])
    for position, (task, root) in enumerate(tasks):
        ExplorerTask.objects.create(
            run=run,
            call=context.call,
            position=position,
            path=task.path,
            query=task.assignment.query,
            method=task.assignment.method[:120],
            variants=list(task.assignment.variants),
            text=task.text,
            root=root,
        )


def _commission(explorer: Any, task: Task, root: DocumentRoot) -> Commission:
    label = f"{root.name} · {task.assignment.method}"[:100]
    where = f"Your folder is “{root.name}”. The tools see nothing outside of it."
    return Commission(
        kind=Delegation.Kind.EXPLORE,
        task=task.text,
        context="",
        instructions=f"{define(explorer).instructions}\n{where}",
        assistant=explorer,
        label=label,
        title=f"{root.name}: {task.assignment.query}",
    )


def _diagnose(action: str, search: Search, run: ResearchRun | None) -> dict[str, Any]:
    """What a diagnostic action tells; none of them changes anything (A-18)."""
    match action:
        case "models":
            return {"explorer": search.model}
        case "status":
            tasks = run.tasks.values_list("path", "state") if run else ()
            return {"rounds": run.rounds if run else 0, "tasks": [{"path": path, "state": state} for path, state in tasks]}
        case "doctor":
            return {"folders": sorted(search.roots.paths), "explorer": search.model, "activeQuery": search.query is not None}
    return {"agents": [{"agent": EXPLORER, "agentScope": "user", "model": search.model}]}
