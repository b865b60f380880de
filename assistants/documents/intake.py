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
# From so many bytes of text on, a process that helps is worth its start; files are read ahead of what is being stored.
WORTH_HELP = 1024 * 1024
AHEAD = 32
# While one helper's answer is being taken in, the other one reads.
HELPERS = 2
# Whoever changes how files are parsed or cut raises this, and every document is read anew.
WAY_OF_READING = b"3"


@dataclass(frozen=True)
class Known:
    """What is stored of a document already."""

    digest: str
    size: int
    modified: datetime | None


@dataclass(frozen=True)
class Unaltered:
    """The file's bytes are the ones that were read before."""


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
                yield file, self._outcome(file, helped=False)
            return
        with ThreadPoolExecutor(HELPERS, thread_name_prefix="reading") as pool:
            going: deque[tuple[File, Future[Outcome]]] = deque()
            try:
                for file in files:
                    going.append((file, pool.submit(self._outcome, file, helped=True)))
                    if len(going) > AHEAD:
                        done, future = going.popleft()
                        yield done, future.result()
                while going:
                    done, future = going.popleft()
                    yield done, future.result()
            finally:
                for _, future in going:
                    future.cancel()

    def _outcome(self, file: File, *, helped: bool) -> Outcome:
        if self._ends is not None and clock.monotonic() > self._ends:
            self.out_of_time = True
            return None
        limit = MAX_CONVERTED_BYTES if is_converted(file.path) else MAX_FILE_BYTES
        try:
            if file.size > limit:
                raise too_large(file.path, limit)
            data = self._folder.read(file.path, limit=limit)
            digest = hashlib.sha256(WAY_OF_READING + data).hexdigest()
            known = self._known.get(file.path)
            if known and known.digest == digest and self._mirror.holds(file.path):
                return Unaltered()
            return Prepared(file.path, digest, as_time(file.modified), file.size, self._prepare(file.path, data, helped))
        except CodedError as error:
            large = error.code == "FILE_TOO_LARGE"
            return _failed(file, f"larger than {limit // 1024**2} MB" if large else "can't be read")
        except NotText:
            return _failed(file, "not text")
        except Unreadable as problem:
            return _failed(file, str(problem))

    def _prepare(self, path: str, data: bytes, helped: bool) -> Ready:
        if helped or is_converted(path):
            converter = self._idle.get()
            try:
                return converter.prepare(path, data)
            finally:
                self._idle.put(converter)
        return prepare(path, data, _never)


def as_time(nanoseconds: int) -> datetime | None:
    """A file's time as the database keeps it; None for one that no calendar has."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None


def _failed(file: File, reason: str) -> Failed:
    return Failed(file.path, reason, file.size, file.modified)


def _never(ending: str, data: bytes) -> Converted:
    raise Unreadable("only converted in a process of its own")
