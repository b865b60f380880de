"""What `/readyz` tells of documents and research: by category, ok or degraded, and nothing of whose or why (A-41)."""

import threading
from collections.abc import Callable

from assistants import clock
from assistants.documents.standing import lacking
from assistants.health import NotReady, register
from assistants.models import Assistant, DocumentRoot
from subchats.research.health import CATEGORIES, check_researcher

# Nobody is asked anything outside of this site, so these stay open here; the admin and the command do ask.
OUTSIDE = ("timeout", "provider_unreachable", "completion_failed")
KEPT_SECONDS = 30.0
MOST_LOOKED_AT = 200
_lock = threading.Lock()
_kept: tuple[float, frozenset[str]] | None = None


def register_parts() -> None:
    """Adds the folders of documents, and each category of the health check that can be told without asking a model."""
    register("documents", check_documents)
    for category in CATEGORIES:
        if category not in ("ok", *OUTSIDE):
            register(f"research.{category}", _check_of(category))


def check_documents() -> None:
    """Raises if a folder can't be read or was left in the middle. One that is being read, or not yet, lacks nothing."""
    roots = DocumentRoot.objects.only("report", "indexed").order_by("pk")[:MOST_LOOKED_AT]
    if found := lacking(roots):
        raise NotReady(f"{len(found)} folders; see `manage.py status`")


def found_categories() -> frozenset[str]:
    """What is wrong with any team's research, at most half a minute old; no model is asked."""
    global _kept
    with _lock:
        if _kept is None or clock.monotonic() - _kept[0] >= KEPT_SECONDS:
            _kept = clock.monotonic(), _look()
        return _kept[1]


def forget() -> None:
    """The next question is answered afresh."""
    global _kept
    with _lock:
        _kept = None


def _look() -> frozenset[str]:
    researchers = Assistant.objects.enabled().filter(research=True).select_related("tenant", "profile").order_by("pk")
    found: set[str] = set()
    for each in researchers[:MOST_LOOKED_AT]:
        found |= check_researcher(each, skip_probes=True).found
    return frozenset(found)


def _check_of(category: str) -> Callable[[], None]:
    def check() -> None:
        if category in found_categories():
            raise NotReady("see `manage.py health`")

    return check
