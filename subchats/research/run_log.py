"""One line per event of a research, for whoever runs the server: never a query, a path or an argument (A-40)."""

import json
import logging
import os
from typing import Any

from django.conf import settings
from django.db.models import F

from assistants import clock
from assistants.errors import CodedError
from assistants.models import ToolCall
from subchats.models import ResearchRun

from .payload import Filled, kind_of

log = logging.getLogger(__name__)
SCHEMA_VERSION = 1


def log_event(event: str, run: ResearchRun | None, **fields: Any) -> None:
    """Appends an event to `logs/runs.jsonl` in the data directory. Whatever goes wrong with it never disturbs a search."""
    line = {
        "event": event,
        "timestamp": clock.now().isoformat(timespec="milliseconds"),
        "sessionId": run.session if run else None,
        **fields,
    }
    try:
        folder = settings.HOME / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "runs.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError:
        log.warning("the run log can't be written", exc_info=True)


def log_rejection(run: ResearchRun | None, call: ToolCall, payload: dict[str, Any], error: CodedError) -> None:
    """Exactly one event for a rejected dispatch; numbered from 1 within its search (A-29)."""
    log_event(
        "dispatch_rejected",
        run,
        schemaVersion=SCHEMA_VERSION,
        toolCallId=str(call.pk),
        sequence=_next_sequence(run),
        dispatchKind=kind_of(payload),
        code=error.code,
        field=_without_names(error.field),
        forceCorrectable=error.correctable,
    )


def log_autofill(run: ResearchRun, call: ToolCall, filled: Filled) -> None:
    """What was filled in, where anything was."""
    if not filled.anything:
        return
    log_event(
        "dispatch_autofilled",
        run,
        schemaVersion=SCHEMA_VERSION,
        toolCallId=str(call.pk),
        sequence=_next_sequence(run),
        dispatchKind="launch",
        fields={"artifacts": filled.artifacts, "agentScope": filled.agent_scope, "leafModelFillCount": filled.models},
    )


def _next_sequence(run: ResearchRun | None) -> int:
    if run is None:
        return 1
    ResearchRun.objects.filter(pk=run.pk).update(rejections=F("rejections") + 1)
    return ResearchRun.objects.values_list("rejections", flat=True).get(pk=run.pk)


def _without_names(field: str) -> str:
    """A field's path; one that the sender made up could hold anything."""
    known = ("action", "agent", "task", "tasks", "chain", "parallel", "artifacts", "agentScope", "model", "cwd", "chainName")
    bare = "".join(character if character.isalpha() else " " for character in field).split()
    return field if all(part in (*known, "query") for part in bare) else "other"
