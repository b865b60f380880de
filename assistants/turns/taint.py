"""Marks conversations that text from outside, or the team's private data, came into, and carries the mark on (D8)."""

from uuid import UUID

from assistants.models import Thread, ToolCall
from assistants.tools.registry import find_tool


def mark(thread_id: int, call_id: UUID | str) -> None:
    """Notes what a call's result brought into the thread. The mark stays, since the text stays in the history.

    What a person types marks nothing. A tool that is gone by now could have brought in anything.
    """
    name = ToolCall.objects.values_list("name", flat=True).get(pk=call_id)
    tool = find_tool(name)
    if tool is None or tool.takes_untrusted:
        Thread.objects.filter(pk=thread_id, tainted_by="").update(tainted_by=str(call_id))
    if tool is None or tool.reads_private:
        Thread.objects.filter(pk=thread_id, read_private=False).update(read_private=True)


def flow(source_id: int, *target_ids: int) -> None:
    """Carries the marks of one thread to others that get text of it: a task, a report, a copy.

    Inside the transaction in which the text is handed on; the target's turn, if it has one, is locked before.
    """
    tainted_by, read_private = Thread.objects.values_list("tainted_by", "read_private").get(pk=source_id)
    if tainted_by:
        Thread.objects.filter(pk__in=target_ids, tainted_by="").update(tainted_by=tainted_by)
    if read_private:
        Thread.objects.filter(pk__in=target_ids, read_private=False).update(read_private=True)
