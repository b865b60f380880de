"""Keeps a root's documents in step with its folder: by a pass on demand, and before a search where one is due."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

from assistants import clock
from assistants.errors import CodedError
from assistants.models import DocumentRoot
from assistants.units import let_go

from .folder import Folder
from .intake import WAY_OF_READING
from .mirror import Mirror
from .report import Report
from .scan import Listener, Scan

CHECK_SECONDS = 30
# Looking through a larger folder takes longer than a search may: it is done beside it.
LARGE = 2000
TOLD_EVERY = 1.0
Progress = Callable[[str, str], None]
Count = Callable[[int, int], None]

_locks: dict[int, threading.Lock] = {}
_locks_lock = threading.Lock()
_checked: dict[int, float] = {}


def index_root(
    root: DocumentRoot,
    *,
    progress: Progress | None = None,
    count: Count | None = None,
    trust_times: bool = False,
    seconds: float | None = None,
) -> Report:
    """Reads what is new or altered, drops what is gone, and keeps a report with the root.

    `progress` hears of each path and what became of it, `count` how many files of how many are done. With `trust_times`
    a file of the same size and time is taken as unaltered without reading it. After `seconds` the pass ends early; the
    next one goes on from there. Raises `FOLDER_UNREADABLE`, and `FOLDER_MOVED` when its path leads elsewhere than before
    (A-24); what was indexed before is kept then, since a drive may only be away for the moment.
    """
    lock = _lock_of(root.pk)
    if not lock.acquire(timeout=-1 if seconds is None else seconds):
        return Report(complete=False)
    try:
        with Folder(root.path, excluded=[str(settings.HOME)]) as folder:
            check_pinned(root, folder)
            if root.indexed is None:
                Mirror(root.pk).clear()
            # What an older version of this product read is read anew, and has no mirror before that.
            trust_times = trust_times and root.report.get("reading") == WAY_OF_READING.decode()
            counted = _Teller(root, count or _quiet_count)
            listener = Listener(told=progress or _quiet, counted=counted.tell)
            report = Scan(root, folder, listener, trust_times=trust_times, seconds=seconds).run()
    except CodedError as error:
        _keep(root, {**root.report, "problem": error.message})
        raise
    except Exception as error:
        # Whoever looks at the folder's state is not to take an older pass for this one.
        _keep(root, {**root.report, "problem": f"The pass broke off ({type(error).__name__}). The log says where."})
        raise
    finally:
        lock.release()
    _checked[root.pk] = clock.monotonic() if report.complete else float("-inf")
    if counted.told or not trust_times or not root.indexed or _is_news(root, report):
        way = WAY_OF_READING.decode() if report.complete else root.report.get("reading", "")
        _keep(root, {**report.as_json(), "reading": way})
    return report


def refresh(roots: Iterable[DocumentRoot], *, seconds: float = 20.0) -> bool:
    """Looks for changes in folders that were not looked at for 30 s, so that a search needs no step before it.

    Says whether all of them were read to the end within `seconds`. A folder that can't be read is passed over, and a
    large one that was read before is looked through in the background.
    """
    ends = clock.monotonic() + seconds
    complete = True
    for root in roots:
        if root.indexed and clock.monotonic() - _checked.get(root.pk, float("-inf")) < CHECK_SECONDS:
            continue
        if root.report.get("documents", 0) > LARGE and root.report.get("complete"):
            _checked[root.pk] = clock.monotonic()
            index_beside(root, trust_times=True)
            continue
        try:
            complete &= index_root(root, trust_times=True, seconds=max(0.0, ends - clock.monotonic())).complete
        except CodedError:
            _checked[root.pk] = clock.monotonic()
    return complete


def index_beside(root: DocumentRoot, *, trust_times: bool = False) -> None:
    """Reads a folder in a thread of its own, unless somebody in this process is at it already."""

    def run() -> None:
        try:
            # What goes wrong is told by the root's report.
            with contextlib.suppress(CodedError, DocumentRoot.DoesNotExist):
                index_root(DocumentRoot.objects.get(pk=root.pk), trust_times=trust_times)
        finally:
            let_go()

    if not _lock_of(root.pk).locked():
        threading.Thread(target=run, name=f"index-{root.pk}", daemon=True).start()


def check_pinned(root: DocumentRoot, folder: Folder) -> None:
    """A root's path leads where it led when it was read first, or was entered anew (A-24). Raises `FOLDER_MOVED`."""
    if root.pinned.get("path") != root.path:
        root.pinned = {"path": root.path, "real": folder.real}
        DocumentRoot.objects.filter(pk=root.pk).update(pinned=root.pinned)
    if root.pinned.get("real") != folder.real:
        raise CodedError(
            code="FOLDER_MOVED",
            field="path",
            message=f"The folder “{root.path}” leads to another place than when it was set up.",
            fix="Put it back, or enter the path of the new folder itself.",
        )


def forget_checks() -> None:
    """Lets the next search look at every folder again."""
    _checked.clear()


class _Teller:
    """Tells how far a pass is: each file to whoever waits for it, once a second to everybody through the root's row."""

    def __init__(self, root: DocumentRoot, count: Count) -> None:
        self._root = root
        self._count = count
        self._last = clock.monotonic()
        self.told = False

    def tell(self, done: int, total: int) -> None:
        self._count(done, total)
        if clock.monotonic() - self._last >= TOLD_EVERY:
            self._last, self.told = clock.monotonic(), True
            progress = {"done": done, "total": total, "at": clock.now().isoformat(), "process": os.getpid()}
            DocumentRoot.objects.filter(pk=self._root.pk).update(report={**self._root.report, "progress": progress})


def _is_news(root: DocumentRoot, report: Report) -> bool:
    """A failure that is not remembered would be tried again at every search."""
    changed = any(report.as_json()[sort] != root.report.get(sort, []) for sort in ("failed", "partly"))
    return report.touched or changed or bool(root.report.get("problem"))


def _keep(root: DocumentRoot, report: dict[str, Any]) -> None:
    report.pop("progress", None)
    root.report = report
    root.indexed = clock.now()
    DocumentRoot.objects.filter(pk=root.pk).update(report=report, indexed=root.indexed)


def _lock_of(root_id: int) -> threading.Lock:
    with _locks_lock:
        return _locks.setdefault(root_id, threading.Lock())


def _quiet(path: str, outcome: str) -> None:
    """Nobody is listening."""


def _quiet_count(done: int, total: int) -> None:
    """Nobody is counting."""
