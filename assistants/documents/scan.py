"""One pass over a root's folder: what is new or altered is read and stored in batches, what is gone is dropped."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assistants import clock
from assistants.models import DocumentRoot, Passage

from .folder import File, Folder, Skipped
from .formats import is_readable
from .intake import Known, Outcome, Reader, as_time
from .mirror import Mirror
from .report import Failed, Report, remembered
from .storing import Prepared, drop, store


@dataclass(frozen=True)
class Listener:
    """Who hears of a pass: of each path and what became of it, and how many files of how many are done."""

    told: Callable[[str, str], None]
    counted: Callable[[int, int], None]


class Scan:
    """One pass. Files are read and cut outside of transactions, and stored in batches, each in a short one.

    With `trust_times` a file of the same size and time is taken as unaltered, and one that failed as still failing.
    """

    BATCH_PASSAGES = BATCH_FILES = 1000

    def __init__(
        self, root: DocumentRoot, folder: Folder, listener: Listener, *, trust_times: bool, seconds: float | None
    ) -> None:
        self.root = root
        self.folder = folder
        self.mirror = Mirror(root.pk)
        self.listener = listener
        self.trust_times = trust_times
        self.started = clock.monotonic()
        self.ends = None if seconds is None else self.started + seconds
        self.counts = Counter[str]()
        self.skipped: list[Skipped] = []
        self.failed: dict[str, Failed] = {}
        self.partly: dict[str, Skipped] = {}
        self.known = _known(root)
        self.batch: list[Prepared] = []
        self.cuts = 0

    def run(self) -> Report:
        """Goes over every file. What time does not suffice for stays as it is."""
        failed_before, partly_before = remembered(self.root.report)
        files = list(self._files())
        present, due = set(), []
        for file in files:
            known, failure = self.known.get(file.path), failed_before.get(file.path)
            if self.trust_times and known and (known.size, known.modified) == (file.size, as_time(file.modified)):
                self.counts["unchanged"] += 1
                present.add(file.path)
            elif self.trust_times and failure and failure.is_of(file):
                self.failed[file.path] = failure
            else:
                due.append(file)
        with Reader(self.folder, self.mirror, self.known, seconds=self._seconds_left()) as reader:
            for place, (file, outcome) in enumerate(reader.read(due)):
                self.listener.counted(len(files) - len(due) + place, len(files))
                if self._take_in(file, outcome):
                    present.add(file.path)
        self._store()
        self.listener.counted(len(files), len(files))
        self._drop(sorted(self.known.keys() - present))
        self.partly = {path: note for path, note in partly_before.items() if path in present} | self.partly
        return self._report(not reader.out_of_time)

    def _report(self, complete: bool) -> Report:
        return Report(
            documents=self.root.documents.count(),
            passages=Passage.objects.filter(document__root=self.root).count(),
            skipped=tuple(self.skipped),
            failed=tuple(self.failed.values()),
            partly=tuple(self.partly.values()),
            complete=complete,
            seconds=clock.monotonic() - self.started,
            **self.counts,
        )

    def _files(self) -> Iterator[File]:
        for each in self.folder.files():
            if isinstance(each, Skipped):
                self._skip(each.path, each.reason)
            elif not is_readable(each.path):
                self._skip(each.path, "not a kind of file that is read")
            else:
                yield each

    def _take_in(self, file: File, outcome: Outcome) -> bool:
        """Whether there is, or still is, a document for this file."""
        known = self.known.get(file.path)
        if isinstance(outcome, Failed):
            self.failed[file.path] = outcome
            self.listener.told(file.path, f"failed: {outcome.reason}")
            return False
        if outcome is None:
            return True
        if isinstance(outcome, Prepared):
            self._prepared(outcome, known)
            return True
        self.counts["unchanged"] += 1
        if known and (known.size, known.modified) != (file.size, as_time(file.modified)):
            self.root.documents.filter(path=file.path).update(size=file.size, modified=as_time(file.modified))
        return True

    def _prepared(self, prepared: Prepared, known: Known | None) -> None:
        ready = prepared.ready
        self.batch.append(prepared)
        self.cuts += len(ready.cuts)
        self.partly.pop(prepared.path, None)
        if ready.note:
            self.partly[prepared.path] = Skipped(prepared.path, ready.note)
        # The same bytes are read again when the mirror has lost them.
        self.counts["added" if not known else "unchanged" if known.digest == prepared.digest else "changed"] += 1
        note = f" ({ready.note})" if ready.note else ""
        self.listener.told(prepared.path, f"{'changed' if known else 'new'}, {len(ready.cuts)} passages{note}")
        if self.cuts >= self.BATCH_PASSAGES or len(self.batch) >= self.BATCH_FILES:
            self._store()

    def _seconds_left(self) -> float | None:
        return None if self.ends is None else self.ends - clock.monotonic()

    def _store(self) -> None:
        batch, self.batch, self.cuts = self.batch, [], 0
        store(self.root, self.mirror, batch, lambda path: self._skip(path, "its name is too long for the mirror"))

    def _drop(self, paths: Sequence[str]) -> None:
        drop(self.root, self.mirror, paths)
        for path in paths:
            self.counts["removed"] += 1
            self.listener.told(path, "gone")

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))
        self.listener.told(path, f"skipped: {reason}")


def _known(root: DocumentRoot) -> dict[str, Known]:
    rows = root.documents.values_list("path", "digest", "size", "modified")
    return {path: Known(digest, size, modified) for path, digest, size, modified in rows.iterator()}
