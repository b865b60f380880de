"""Which folder an explorer was sent into: there it may read, and nowhere else (A-12, A-24)."""

from assistants.documents.roots import roots_for
from assistants.errors import CodedError
from assistants.llm.request import ToolDefinition
from assistants.models import DocumentRoot, Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from subchats.models import Delegation, ExplorerTask

from .discovery import check_raw


def assigned_roots(thread: Thread) -> list[DocumentRoot]:
    """The assignment's folder, as long as whoever the conversation belongs to may read it (S06).

    Raises `EXPLORER_UNASSIGNED` in a conversation that is no explorer's.
    """
    task = task_of(thread)
    if task is None or task.root_id is None:
        raise CodedError(
            code="EXPLORER_UNASSIGNED",
            message="There is no folder to read here: only an explorer that was sent out has one.",
            fix="Use search_documents and read_document instead, if you have them.",
            correctable=False,
        )
    roots = [root for root in roots_for(thread) if root.pk == task.root_id]
    if not roots:
        raise CodedError(
            code="EXPLORER_UNASSIGNED",
            message="The folder of this assignment is not there any more, or may no longer be read.",
            fix="Report that you found nothing.",
            correctable=False,
        )
    return roots


def open_roots(context: ToolContext, document: str = "") -> list[DocumentRoot]:
    """The same for a tool that is about to read there, as far as the team's local discovery lets it (A-35).

    Raises as `assigned_roots` and `check_raw` do.
    """
    roots = assigned_roots(context.thread)
    task = task_of(context.thread)
    check_raw(context.thread, task.run if task else None, context.call.name, document)
    return roots


def task_of(thread: Thread) -> ExplorerTask | None:
    """What the explorer in this conversation was sent out for; None in any other conversation."""
    delegation = Delegation.objects.filter(child=thread, call__isnull=False).first()
    if delegation is None:
        return None
    return ExplorerTask.objects.select_related("run").filter(call_id=delegation.call_id, position=delegation.position).first()


def only_for_explorers(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Hides a tool from whoever has no assignment."""
    return plain if task_of(thread) else None
