"""Brings a root's documents and passages up to date with its folder, a file at a time and only where it changed."""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from assistants import clock
from assistants.errors import CodedError
from assistants.models import Document, DocumentRoot, Passage

from .folder import File, Folder, Skipped, too_large
from .formats import NotText, is_readable, parse_document
from .passages import cut_passages
from .search_index import index_of

MAX_FILE_BYTES = 10 * 1024 * 1024
MOST_NAMED = 200
CHECK_SECONDS = 30
# Whoever changes how files are parsed or cut raises this, and every document is read anew.
WAY_OF_READING = b"1"
Progress = Callable[[str, str], None]

_locks: dict[int, threading.Lock] = {}
_locks_lock = threading.Lock()
_checked: dict[int, float] = {}


@dataclass(frozen=True)
class Report:
    """What one pass over a root's folder found and did. `complete` is false when the time for it was up."""

    documents: int = 0
    passages: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    complete: bool = True
    seconds: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether the pass altered anything."""
        return bool(self.added or self.changed or self.removed)

    def as_json(self) -> dict[str, Any]:
        """The form that is kept with the root: at most 200 skipped files are named, all are counted."""
        return {
            **asdict(self),
            "seconds": round(self.seconds, 1),
            "skipped": [asdict(each) for each in self.skipped[:MOST_NAMED]],
            "skipped_total": len(self.skipped),
            "problem": "",
        }


def index_root(
    root: DocumentRoot, *, progress: Progress | None = None, trust_times: bool = False, seconds: float | None = None
) -> Report:
    """Reads what is new or altered, drops what is gone, and keeps a report with the root.

    `progress` hears of each path and what became of it. With `trust_times` a file of the same size and time is taken
    as unaltered without reading it. After `seconds` the pass ends early; the next one goes on from there. Raises
    `FOLDER_UNREADABLE`; what was indexed before is kept then, since a drive may only be away for the moment.
    """
    lock = _lock_of(root.pk)
    if not lock.acquire(timeout=-1 if seconds is None else seconds):
        return Report(complete=False)
    try:
        with Folder(root.path, excluded=[str(settings.HOME)]) as folder:
            report = _Pass(root, folder, progress or _quiet, trust_times=trust_times, seconds=seconds).run()
    except CodedError as error:
        _keep(root, {**root.report, "problem": error.message})
        raise
    finally:
        lock.release()
    _checked[root.pk] = clock.monotonic() if report.complete else float("-inf")
    if report.touched or not trust_times or not root.indexed or root.report.get("problem"):
        _keep(root, report.as_json())
    return report


def refresh(roots: Iterable[DocumentRoot], *, seconds: float = 20.0) -> bool:
    """Looks for changes in folders that were not looked at for 30 s, so that a search needs no step before it.

    Says whether all of them were read to the end within `seconds`. A folder that can't be read is passed over.
    """
    ends = clock.monotonic() + seconds
    complete = True
    for root in roots:
        if root.indexed and clock.monotonic() - _checked.get(root.pk, float("-inf")) < CHECK_SECONDS:
            continue
        try:
            complete &= index_root(root, trust_times=True, seconds=max(0.0, ends - clock.monotonic())).complete
        except CodedError:
            _checked[root.pk] = clock.monotonic()
    return complete


def forget_checks() -> None:
    """Lets the next search look at every folder again."""
    _checked.clear()


class _Pass:
    """One pass. Files are read and cut outside of transactions, and stored in batches, each in a short one."""

    BATCH_PASSAGES = 200
    BATCH_DOCUMENTS = 200

    def __init__(self, root: DocumentRoot, folder: Folder, progress: Progress, *, trust_times: bool, seconds: float | None):
        self.root = root
        self.folder = folder
        self.progress = progress
        self.trust_times = trust_times
        self.started = clock.monotonic()
        self.ends = None if seconds is None else self.started + seconds
        self.counts = Counter[str]()
        self.skipped: list[Skipped] = []
        self.known = {each.path: each for each in root.documents.defer("text")}
        self.batch: list[tuple[Document, list[Passage]]] = []

    def run(self) -> Report:
        present = set()
        complete = True
        for file in self._files():
            known = self.known.get(file.path)
            if known and self.trust_times and known.size == file.size and known.modified == as_time(file.modified):
                self.counts["unchanged"] += 1
            elif self.ends is not None and clock.monotonic() > self.ends:
                complete = False
            elif not self._take_in(file, known):
                continue
            present.add(file.path)
        self._store()
        self._drop(sorted(self.known.keys() - present))
        return Report(
            documents=self.root.documents.count(),
            passages=Passage.objects.filter(document__root=self.root).count(),
            skipped=tuple(self.skipped),
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

    def _take_in(self, file: File, known: Document | None) -> bool:
        """Reads one file. False when it can't be a document."""
        try:
            if file.size > MAX_FILE_BYTES:
                raise too_large(file.path, MAX_FILE_BYTES)
            data = self.folder.read(file.path, limit=MAX_FILE_BYTES)
            digest = hashlib.sha256(WAY_OF_READING + data).hexdigest()
            if known and known.digest == digest:
                self._note_time(known, file)
                return True
            self._prepare(file, data, digest, known)
            return True
        except CodedError as error:
            self._skip(file.path, "larger than 10 MB" if error.code == "FILE_TOO_LARGE" else "can't be read")
        except NotText:
            self._skip(file.path, "not text")
        return False

    def _note_time(self, known: Document, file: File) -> None:
        self.counts["unchanged"] += 1
        if (known.size, known.modified) != (file.size, as_time(file.modified)):
            Document.objects.filter(pk=known.pk).update(size=file.size, modified=as_time(file.modified))

    def _prepare(self, file: File, data: bytes, digest: str, known: Document | None) -> None:
        parsed = parse_document(file.path, data)
        document = Document(
            pk=known.pk if known else None,
            root=self.root,
            path=file.path,
            title=parsed.title,
            digest=digest,
            text=parsed.text,
            modified=as_time(file.modified),
            size=file.size,
        )
        passages = [
            Passage(document=document, first_line=cut.first, last_line=cut.last, heading=cut.heading, text=cut.text)
            for cut in cut_passages(parsed.text, markup=parsed.markup)
        ]
        self.batch.append((document, passages))
        self.counts["changed" if known else "added"] += 1
        self.progress(file.path, f"{'changed' if known else 'new'}, {len(passages)} passages")
        if sum(len(each) for _, each in self.batch) >= self.BATCH_PASSAGES:
            self._store()

    def _store(self) -> None:
        batch, self.batch = self.batch, []
        if not batch:
            return
        with transaction.atomic():
            for document, passages in batch:
                # Another process may have stored the same file meanwhile.
                Document.objects.filter(root=self.root, path=document.path).exclude(pk=document.pk).delete()
                Passage.objects.filter(document_id=document.pk).delete()
                document.save()
                for passage in passages:
                    passage.document = document
                Passage.objects.bulk_create(passages, batch_size=200)
                index_of().add(self.root.pk, f"{document.title} {_as_words(document.path)}", passages)

    def _drop(self, paths: Sequence[str]) -> None:
        for start in range(0, len(paths), self.BATCH_DOCUMENTS):
            gone = [self.known[path].pk for path in paths[start : start + self.BATCH_DOCUMENTS]]
            Document.objects.filter(pk__in=gone).delete()
        for path in paths:
            self.counts["removed"] += 1
            self.progress(path, "gone")

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))
        self.progress(path, f"skipped: {reason}")


def as_time(nanoseconds: int) -> datetime | None:
    """A file's time as the database keeps it; None for one that no calendar has."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None


def _as_words(path: str) -> str:
    return path.replace("/", " ").replace("_", " ").replace("-", " ").rpartition(".")[0]


def _keep(root: DocumentRoot, report: dict[str, Any]) -> None:
    root.report = report
    root.indexed = clock.now()
    DocumentRoot.objects.filter(pk=root.pk).update(report=report, indexed=root.indexed)


def _lock_of(root_id: int) -> threading.Lock:
    with _locks_lock:
        return _locks.setdefault(root_id, threading.Lock())


def _quiet(path: str, outcome: str) -> None:
    """Nobody is listening."""
