"""Reads a root's files one after another: what is unaltered is left, the rest becomes text; many of them by a helper."""

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from assistants import clock
from assistants.errors import CodedError

from .conversion.converted import Converted, Unreadable
from .conversion.converter import Converter
from .folder import File, Folder, too_large
from .formats import NotText, is_converted
from .mirror import Mirror
from .prepare import Ready, prepare
from .report import Failed
from .storing import Prepared

MAX_FILE_BYTES = 10 * 1024 * 1024
# Pictures take most of such a file; its text is bounded by itself.
MAX_CONVERTED_BYTES = 64 * 1024 * 1024
# From so many bytes of text on, a process that helps is worth its start; so many files and bytes are read ahead of what is
# being stored, so that the helpers have enough to do meanwhile.
WORTH_HELP = 1024 * 1024
AHEAD, BYTES_AHEAD = 1000, 4 * 1024 * 1024
FILES_TOGETHER, BYTES_TOGETHER = 32, 64 * 1024
# While one helper's answer is being taken in, the other one reads.
HELPERS = 2
# Whoever changes how files are parsed or cut raises this, and every document is read anew.
WAY_OF_READING = b"4"


@dataclass(frozen=True)
class Known:
    """What is stored of a document already."""

    digest: str
    size: int
    modified: datetime | None


@dataclass(frozen=True)
class Unaltered:
    """The file's bytes are the ones that were read before."""


@dataclass(frozen=True)
class _Bytes:
    """A file that is new or altered."""

    digest: str
    data: bytes


# None: there was no time for it.
Outcome = Prepared | Failed | Unaltered | None


class Reader:
    """Reads files of one folder. It touches no database, so that it can work beside what does.

    After `seconds` nothing more is begun, and `out_of_time` says so.
    """

    def __init__(self, folder: Folder, mirror: Mirror, known: Mapping[str, Known], *, seconds: float | None) -> None:
        self._folder = folder
        self._mirror = mirror
        self._known = known
        self._ends = None if seconds is None else clock.monotonic() + seconds
        self._idle: SimpleQueue[Converter] = SimpleQueue()
        for _ in range(HELPERS):
            self._idle.put(Converter())
        self.out_of_time = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for _ in range(HELPERS):
            self._idle.get().close()

    def read(self, files: Sequence[File]) -> Iterator[tuple[File, Outcome]]:
        """What becomes of each file, in their order. Text of small amounts is prepared in this process."""
        helped = sum(file.size for file in files) > WORTH_HELP
        if not helped:
            for file in files:
                yield file, self._outcome(file)
            return
        with ThreadPoolExecutor(HELPERS, thread_name_prefix="reading") as pool:
            going: deque[tuple[Sequence[File], Future[list[Outcome]]]] = deque()
            files_ahead = bytes_ahead = 0
            try:
                for some in _together(files):
                    going.append((some, pool.submit(self._outcomes, some)))
                    files_ahead, bytes_ahead = files_ahead + len(some), bytes_ahead + _size(some)
                    while len(going) > HELPERS and (files_ahead > AHEAD or bytes_ahead > BYTES_AHEAD):
                        some, future = going.popleft()
                        files_ahead, bytes_ahead = files_ahead - len(some), bytes_ahead - _size(some)
                        yield from zip(some, future.result(), strict=True)
                while going:
                    some, future = going.popleft()
                    yield from zip(some, future.result(), strict=True)
            finally:
                for _, future in going:
                    future.cancel()

    def _outcomes(self, files: Sequence[File]) -> list[Outcome]:
        """The same of several files by a helper, which is handed those together that have to be prepared."""
        found = [self._look(file) for file in files]
        changed = [(file, each) for file, each in zip(files, found, strict=True) if isinstance(each, _Bytes)]
        if not changed:
            return [each for each in found if not isinstance(each, _Bytes)]
        converter = self._idle.get()
        try:
            made = iter(converter.prepare_all([(file.path, each.data) for file, each in changed]))
        finally:
            self._idle.put(converter)
        return [
            _prepared(file, each, next(made)) if isinstance(each, _Bytes) else each
            for file, each in zip(files, found, strict=True)
        ]

    def _outcome(self, file: File) -> Outcome:
        found = self._look(file)
        if not isinstance(found, _Bytes):
            return found
        if is_converted(file.path):
            return self._outcomes([file])[0]
        try:
            return _prepared(file, found, prepare(file.path, found.data, _never))
        except NotText:
            return _failed(file, "not text")

    def _look(self, file: File) -> "Outcome | _Bytes":
        """What can be said of a file without preparing it, or its bytes."""
        if self._ends is not None and clock.monotonic() > self._ends:
            self.out_of_time = True
            return None
        limit = MAX_CONVERTED_BYTES if is_converted(file.path) else MAX_FILE_BYTES
        try:
            if file.size > limit:
                raise too_large(file.path, limit)
            data = self._folder.read(file.path, limit=limit)
        except CodedError as error:
            large = error.code == "FILE_TOO_LARGE"
            return _failed(file, f"larger than {limit // 1024**2} MB" if large else "can't be read")
        digest = hashlib.sha256(WAY_OF_READING + data).hexdigest()
        known = self._known.get(file.path)
        if known and known.digest == digest and self._mirror.holds(file.path):
            return Unaltered()
        return _Bytes(digest, data)


def as_time(nanoseconds: int) -> datetime | None:
    """A file's time as the database keeps it; None for one that no calendar has."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None


def _together(files: Sequence[File]) -> Iterator[Sequence[File]]:
    """Small files in groups, which a helper is handed at once; every larger one, and one that is converted, by itself."""
    group: list[File] = []
    for file in files:
        alone = file.size > BYTES_TOGETHER or is_converted(file.path)
        if group and (alone or len(group) == FILES_TOGETHER or _size(group) + file.size > BYTES_TOGETHER):
            yield group
            group = []
        group.append(file)
        if alone:
            yield group
            group = []
    if group:
        yield group


def _size(files: Sequence[File]) -> int:
    return sum(file.size for file in files)


def _prepared(file: File, found: _Bytes, ready: Ready | Unreadable) -> Prepared | Failed:
    if isinstance(ready, Unreadable):
        return _failed(file, str(ready))
    return Prepared(file.path, found.digest, as_time(file.modified), file.size, ready)


def _failed(file: File, reason: str) -> Failed:
    return Failed(file.path, reason, file.size, file.modified)


def _never(ending: str, data: bytes) -> Converted:
    raise Unreadable("only converted in a process of its own")
