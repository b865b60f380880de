"""What one pass over a root's folder found and did, and how far the pass that runs is."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from assistants import clock
from assistants.models import DocumentRoot

from .folder import File, Skipped

MOST_NAMED = 200
MOST_REMEMBERED = 2000
# A pass says at least this often how far it is, unless one file takes all the time it may.
STALE = timedelta(seconds=60)


@dataclass(frozen=True)
class Failed:
    """A file that is of a kind that is read, but could not be. It is not tried again until it changes."""

    path: str
    reason: str
    size: int
    modified: int

    def is_of(self, file: File) -> bool:
        """Whether the file is still the one that failed."""
        return (self.size, self.modified) == (file.size, file.modified)


@dataclass(frozen=True)
class Report:
    """What one pass found and did. `complete` is false when the time for it was up.

    `skipped` was left out by its name or kind, `failed` could not be read, `partly` was read but not to its end (U3).
    """

    documents: int = 0
    passages: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Failed, ...] = ()
    partly: tuple[Skipped, ...] = ()
    complete: bool = True
    seconds: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether the pass altered anything."""
        return bool(self.added or self.changed or self.removed)

    def as_json(self) -> dict[str, Any]:
        """The form that is kept with the root: at most 200 files of a sort are named, all are counted."""
        return {
            **{name: value for name, value in asdict(self).items() if not isinstance(value, tuple)},
            "seconds": round(self.seconds, 1),
            "skipped": [asdict(each) for each in self.skipped[:MOST_NAMED]],
            "skipped_total": len(self.skipped),
            "failed": [asdict(each) for each in self.failed[:MOST_REMEMBERED]],
            "failed_total": len(self.failed),
            "partly": [asdict(each) for each in self.partly[:MOST_REMEMBERED]],
            "problem": "",
        }


@dataclass(frozen=True)
class Going:
    """How far a pass is: `done` of `total` files. `stalled` when nobody seems to be at it any more."""

    done: int
    total: int
    stalled: bool


def remembered(report: dict[str, Any]) -> tuple[dict[str, Failed], dict[str, Skipped]]:
    """The files that failed or were read in part in an earlier pass, by path."""
    failed = [Failed(**each) for each in report.get("failed", ())]
    return {each.path: each for each in failed}, {each["path"]: Skipped(**each) for each in report.get("partly", ())}


def going(root: DocumentRoot) -> Going | None:
    """How far the pass over this root is, if one runs or broke off."""
    progress = root.report.get("progress")
    if not progress:
        return None
    stalled = clock.now() - datetime.fromisoformat(progress["at"]) > STALE
    return Going(done=progress["done"], total=progress["total"], stalled=stalled)
