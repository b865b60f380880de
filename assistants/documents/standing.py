"""How a folder's index stands, in one word, from the record alone."""

from collections.abc import Iterable

from assistants.models import DocumentRoot

from .report import going

LACKING = ("unreadable", "broken-off")
"""What does not mend itself: the folder is not there, or nobody goes on reading it."""


def standing(root: DocumentRoot) -> str:
    """`ready`, `stale`, `reading`, `broken-off`, `unreadable` or `unread`."""
    if pass_ := going(root):
        return "broken-off" if pass_.stalled else "reading"
    if root.report.get("problem"):
        return "unreadable"
    if root.indexed is None:
        return "unread"
    return "ready" if root.report.get("complete", True) else "stale"


def lacking(roots: Iterable[DocumentRoot]) -> list[DocumentRoot]:
    """The folders that somebody has to look after."""
    return [root for root in roots if standing(root) in LACKING]
