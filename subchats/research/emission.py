"""Takes the results of a research in: grounded, joined to their evidence, kept once (A-07, A-10, A-11)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from assistants import clock
from assistants.documents.roots import roots_for
from assistants.errors import CodedError
from assistants.models import DocumentRoot, Message
from assistants.tools.context import ToolContext
from assistants.turns import events
from assistants.turns.lifecycle import reply_parts
from subchats.models import CuratedResult, Evidence, ExplorerTask, ResearchRun

from . import run_log
from .curation import Curated, Reference, Result, read_emission
from .evidence import keep, trace
from .quotes import find_quote


def emit(
    context: ToolContext,
    answer: str,
    results: Sequence[Mapping[str, Any]],
    mapping: Sequence[Mapping[str, Any]],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """Keeps the results, and gives what a caller learns: session, results with their feedback ids, how many, diagnostics.

    Raises `NO_RESEARCH`, `RESEARCH_NOT_GROUNDED`, `RESULTS_MISMATCH`, `EVIDENCE_EMPTY`, `EVIDENCE_NOT_VERIFIED`.
    """
    run = ResearchRun.objects.filter(turn=context.turn).first()
    if run is None:
        raise CodedError(
            code="NO_RESEARCH", message="No research is under way here.", fix="Answer without this tool.", correctable=False
        )
    if not run.tasks.filter(state=ExplorerTask.State.GROUNDED).exists():
        raise CodedError(
            code="RESEARCH_NOT_GROUNDED",
            message="No explorer has brought back evidence yet. There are no results without a successful explorer call.",
            fix="Dispatch explorers with subagent first.",
        )
    curated = read_emission(answer, results, mapping, warnings)
    roots = roots_for(context.thread)
    joined = [(each, [_evidence(run, each, reference, roots) for reference in each.references]) for each in curated.results]
    with transaction.atomic():
        run = ResearchRun.objects.select_for_update().get(pk=run.pk)
        if run.finished is None:
            _store(run, curated, joined)
            _write_answer(context, answer)
    run_log.log_event("search_completed", run, resultCount=len(joined))
    return {
        "sessionId": run.session,
        "searched": len(joined),
        "results": [{"number": each.number, "feedbackId": f"{run.session}:{each.number}"} for each in curated.results],
        "warnings": run.warnings,
        "diagnostics": run.diagnostics,
    }


def _evidence(run: ResearchRun, result: Result, reference: Reference, roots: Sequence[DocumentRoot]) -> Evidence:
    """The verified evidence that is meant: by its id, by its words among what explorers brought, else looked up now."""
    named = run.evidence.filter(stable_id=reference.stable_id) if reference.stable_id else run.evidence.none()
    for known in [*named, *run.evidence.filter(source=reference.source)]:
        if known.excerpt == reference.text or find_quote(known.excerpt, reference.text):
            return known
    try:
        found = trace(run.turn.thread, roots, reference.source, reference.text, line=reference.line)
    except CodedError as error:
        raise CodedError(
            code="EVIDENCE_NOT_VERIFIED",
            field=f"results[{result.number}]",
            message=f"The evidence of result {result.number} can't be verified. {error.message}",
            fix="Name evidence that an explorer brought back, by its evidenceId and with its words.",
        ) from error
    return keep(run, found, method=reference.method)


def _store(run: ResearchRun, curated: Curated, joined: Sequence[tuple[Result, list[Evidence]]]) -> None:
    run.answer, run.finished = curated.answer, clock.now()
    run.warnings = list(curated.warnings)
    run.save(update_fields=["answer", "finished", "warnings"])
    run.diagnose(list(curated.diagnostics))
    for result, evidence in joined:
        kept = CuratedResult.objects.create(
            run=run,
            number=result.number,
            title=result.title,
            summary=result.summary,
            confidence=result.confidence,
            source=result.source,
            method=result.method,
            content=result.content,
        )
        kept.evidence.set(evidence)


def _write_answer(context: ToolContext, answer: str) -> None:
    """The answer is what the assistant says: in the conversation, in later prompts, and to whoever asked it (T-07)."""
    message = context.call.message
    if message is None:
        return
    reasoning = next((part["text"] for part in message.parts if part["type"] == "reasoning"), "")
    Message.objects.filter(pk=message.pk).update(parts=reply_parts(answer, reasoning))
    events.record(context.thread.pk, "message", message=str(message.pk))
