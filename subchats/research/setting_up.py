"""What a research assistant needs before it can work, asked when it is saved and by the system check (A-01, A-02, A-31)."""

from collections.abc import Iterable

from assistants.errors import CodedError
from assistants.models import Assistant, DocumentRoot
from assistants.tools.registry import find_tool

from .explorers import look_at_explorer
from .run import REQUIRED


def research_problems(assistant: Assistant) -> Iterable[CodedError]:
    """Why an assistant that is set to research could not; nothing of one that is switched off or does no research."""
    if not assistant.research or not assistant.enabled or assistant.internal:
        return
    missing = [name for name in REQUIRED if name not in assistant.tools or find_tool(name) is None]
    if missing:
        yield CodedError(
            code="RESEARCH_TOOLS",
            field="tools",
            message=f"It researches, but lacks {' and '.join(missing)}.",
            fix="Tick these tools, or take the tick at “research” away.",
        )
    if not DocumentRoot.objects.filter(tenant=assistant.tenant_id).exists():
        yield CodedError(
            code="RESEARCH_NO_FOLDER",
            field="research",
            message="There is no folder of documents in which it could look anything up.",
            fix="Add one under Document roots first.",
        )
    try:
        look_at_explorer(assistant.tenant)
    except CodedError as error:
        yield CodedError(code=error.code, field="research", message=error.message, fix=error.fix)
