"""The ledger's tools, one for each effect class (D5)."""

import json
import os
from pathlib import Path
from typing import Any

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool


def _append(context: ToolContext, name: str) -> Any:
    line = {"tool": name, "call": str(context.call.pk)}
    with open(os.environ["TASKMONKEY_LEDGER"], "a") as ledger:
        ledger.write(json.dumps(line) + "\n")
        ledger.flush()
        os.fsync(ledger.fileno())
    return {"written": True}


@tool(effect="pure")
def look(context: ToolContext) -> Any:
    """Look something up; may be repeated freely."""
    return _append(context, "look")


@tool(effect="idempotent")
def put(context: ToolContext) -> Any:
    """Store something under the call's own key; a repetition changes nothing outside."""
    ledger = Path(os.environ["TASKMONKEY_LEDGER"])
    known = ledger.exists() and str(context.call.pk) in ledger.read_text()
    return {"written": True} if known else _append(context, "put")


@tool(effect="once")
def charge(context: ToolContext) -> Any:
    """Do something that must never happen twice."""
    return _append(context, "charge")
