"""Carries over what came in from outside with the notes that other sub-chats left on a workflow's steps (D8)."""

from assistants.models import Thread, ToolCall
from assistants.turns import taint

from .progress import Progress


def take_marks(progress: Progress, thread: Thread) -> None:
    """Marks the thread like those whose assistants wrote the notes that it is about to read; a person's notes mark nothing."""
    written = [step.record.call_id for step in progress.steps if step.record and step.record.note and step.record.call_id]
    sources = ToolCall.objects.filter(pk__in=written).exclude(turn__thread=thread)
    for source in sources.order_by().values_list("turn__thread_id", flat=True).distinct():
        taint.flow(source, thread.pk)
