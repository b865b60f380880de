"""Conversations in which a table is kept, and what was kept in them."""

import json
from typing import Any

from assistants.llm import scripted
from assistants.models import StoredTable, Thread, ToolCall
from assistants.turns import lifecycle
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.world import World

TABLE_TOOLS = ["cache_assembled_table", "make_chart", "export_table"]
COLUMNS = [{"name": "Week", "type": "text"}, {"name": "Units", "type": "number"}]
ROWS = [["46", 31], ["47", 118]]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def cache(**changed: Any) -> dict[str, Any]:
    """A reply that keeps a table of two weeks which the person wrote down, with what is changed about it."""
    return call(
        "cache_assembled_table", **{"title": "Returns", "columns": COLUMNS, "rows": ROWS, "sources": ["person"], **changed}
    )


def converse(ground: World, *steps: Any, thread: Thread | None = None) -> Thread:
    """Alice writes, and her lead takes these steps; without a thread in a new conversation."""
    ground.lead.tools = list(dict.fromkeys([*ground.lead.tools, *TABLE_TOOLS]))
    ground.lead.save()
    before = [] if thread is None else ["said"] * len(replies(thread))
    scripted.register(ground.lead.profile.model, [*before, *steps, "Done."])
    if thread is None:
        thread = ground.open("Here are numbers.")
    else:
        lifecycle.send_message(thread, author=ground.alice, text="And now?")
    run_all()
    return thread


def called(thread: Thread) -> ToolCall:
    """The last call of the last turn."""
    return last_turn(thread).calls.order_by("-round", "-index").first()


def refusal(ground: World, **changed: Any) -> ToolCall:
    """The call that tried to keep such a table, after looking that nothing was kept."""
    found = called(converse(ground, cache(**changed)))
    assert not StoredTable.objects.exists()
    return found


def keep(ground: World, **changed: Any) -> StoredTable:
    """A table kept in a new conversation of Alice's."""
    thread = converse(ground, cache(**changed))
    found = called(thread)
    assert found.outcome == ToolCall.Outcome.OK, found.result
    return StoredTable.objects.get(root=thread, pointer=json.loads(found.result)["pointer"])
