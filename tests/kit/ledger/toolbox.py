"""The ledger's tools, one for each effect class (D5)."""

import fcntl
import json
import os
from typing import Any

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool


def _append(context: ToolContext, name: str, *, unless_known: bool = False) -> Any:
    line = {"tool": name, "call": str(context.call.pk)}
    with open(os.environ["TASKMONKEY_LEDGER"], "a+") as ledger:
        # Two runners may be here at once, when one of them lost its lease without knowing.
        fcntl.flock(ledger, fcntl.LOCK_EX)
        ledger.seek(0)
        if not (unless_known and line["call"] in ledger.read()):
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
    return _append(context, "put", unless_known=True)


@tool(effect="once")
def charge(context: ToolContext) -> Any:
    """Do something that must never happen twice."""
    return _append(context, "charge")
