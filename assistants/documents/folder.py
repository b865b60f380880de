"""A folder whose files are opened beneath it and nowhere else, whatever links and names lie in it."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from assistants.errors import CodedError

MAX_FILES = 200_000
MAX_DEPTH = 32
MAX_PATH = 400
LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "lost+found"})
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe waits for somebody who writes into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Identity = tuple[int, int]


@dataclass(frozen=True)
class File:
    """A regular file of the folder. `path` is relative with forward slashes; `modified` counts nanoseconds."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True)
class Skipped:
    """What was not taken in, and why, in a few words."""

    path: str
    reason: str


class Folder:
    """A directory that is pinned while it is used: its real path is resolved once, its descriptor held (S33).

    `excluded` are directories that do not belong to it although they lie in it. Raises `FOLDER_UNREADABLE` on entering.
    """

    def __init__(self, path: str, *, excluded: Iterable[str] = ()) -> None:
        self.path = path
        self._excluded = {identity for each in excluded if (identity := _identity_of(each))}

    def __enter__(self) -> Self:
        try:
            self._real = os.path.realpath(self.path, strict=True) if os.path.isabs(self.path) else ""
            self._descriptor = os.open(self._real, _DIRECTORY)
        except (OSError, ValueError):
            raise CodedError(
                code="FOLDER_UNREADABLE",
                field="path",
                message=f"The folder “{self.path}” does not exist or can't be read by this server.",
                fix="Enter the absolute path of a folder that this server may read.",
            ) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._descriptor)

    @property
    def real(self) -> str:
        """Its real path, from when it was entered."""
        return self._real

    def files(self) -> Iterator[File | Skipped]:
        """Every file that is not hidden, by path; then those behind links that stay inside and were not seen yet."""
        walk = _Walk(self._real, visited=set(self._excluded))
        yield from walk.run(self._descriptor)

    def read(self, path: str, *, limit: int) -> bytes:
        """The file's bytes. Raises `PATH_REFUSED`, or `FILE_TOO_LARGE` when it has more than `limit` bytes."""
        names = _names(path)
        try:
            # Most paths have no link, and need not be looked through for one.
            descriptor = self._open(names)
        except CodedError:
            descriptor = self._open(self._inside(path))
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _refused(path)
            data = bytearray()
            # Room is made for as much as is asked for, which takes longer than to read a small file.
            step = min(status.st_size, 1 << 20) + 1
            while chunk := os.read(descriptor, min(step, limit + 1 - len(data))):
                data += chunk
                if len(data) > limit:
                    raise too_large(path, limit)
            return bytes(data)
        except OSError:
            raise _refused(path) from None
        finally:
            os.close(descriptor)

    def _inside(self, path: str) -> list[str]:
        """The names on the way to what the path stands for, after its links; all of them lie in the folder."""
        found = relative_target(self._real, path)
        if found is None:
            raise _refused(path)
        return found.split("/")

    def _open(self, names: list[str]) -> int:
        """Opens name by name and follows no link, so that a link that was put there meanwhile leads nowhere."""
        try:
            held = _descend(self._descriptor, names[:-1], excluded=self._excluded)
        except (OSError, ValueError):
            raise _refused("/".join(names)) from None
        try:
            # Looked at first: opening a device may already do something.
            if not stat.S_ISREG(os.stat(names[-1], dir_fd=held, follow_symlinks=False).st_mode):
                raise _refused("/".join(names))
            return os.open(names[-1], _FILE, dir_fd=held)
        except (OSError, ValueError):
            raise _refused("/".join(names)) from None
        finally:
            os.close(held)


class _Walk:
    """One pass over the folder."""

    def __init__(self, real: str, *, visited: set[Identity]) -> None:
        self._real = real
        self._visited = visited
        self._seen: set[Identity] = set()
        self._links: list[str] = []
        self._count = 0

    def run(self, descriptor: int) -> Iterator[File | Skipped]:
        yield from self._directory(os.dup(descriptor), "", 0)
        while self._links:
            yield from self._link(descriptor, self._links.pop(0))
        if self._count > MAX_FILES:
            yield Skipped("…", f"more than {MAX_FILES} files")

    def _directory(self, descriptor: int, prefix: str, depth: int) -> Iterator[File | Skipped]:
        """Closes the descriptor when it is done."""
        try:
            identity = _identity(os.fstat(descriptor))
            if identity in self._visited:
                return
            self._visited.add(identity)
            for entry in sorted(os.scandir(descriptor), key=lambda each: each.name):
                if self._count > MAX_FILES:
                    return
                if not _is_hidden(entry.name):
                    yield from self._entry(descriptor, entry, prefix + entry.name, depth)
        finally:
            os.close(descriptor)

    def _entry(self, descriptor: int, entry: "os.DirEntry[str]", path: str, depth: int) -> Iterator[File | Skipped]:
        if problem := _name_problem(path):
            yield Skipped(path.encode("utf-8", "replace").decode(), problem)
            return
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                self._links.append(path)
            elif stat.S_ISDIR(status.st_mode):
                yield from self._subdirectory(descriptor, entry.name, path, depth)
            elif stat.S_ISREG(status.st_mode):
                yield self._file(path, status)
            else:
                yield Skipped(path, "not a regular file")
        except OSError:
            yield Skipped(path, "can't be read")

    def _subdirectory(self, descriptor: int, name: str, path: str, depth: int) -> Iterator[File | Skipped]:
        if name in LEFT_OUT:
            yield Skipped(f"{path}/", "a folder that programs fill")
        elif depth >= MAX_DEPTH:
            yield Skipped(f"{path}/", f"more than {MAX_DEPTH} folders deep")
        else:
            yield from self._directory(os.open(name, _DIRECTORY, dir_fd=descriptor), f"{path}/", depth + 1)

    def _link(self, root: int, path: str) -> Iterator[File | Skipped]:
        target = relative_target(self._real, path)
        if target is None:
            yield Skipped(path, "a link that leads out of the folder or nowhere")
            return
        *above, name = target.split("/")
        try:
            # From the root on, since what it leads to may have become a link itself by now.
            held = _descend(root, above)
            try:
                status = os.stat(name, dir_fd=held, follow_symlinks=False)
                found = os.open(name, _DIRECTORY, dir_fd=held) if stat.S_ISDIR(status.st_mode) else -1
            finally:
                os.close(held)
            if found >= 0:
                yield from self._directory(found, f"{path}/", path.count("/") + 1)
            elif stat.S_ISREG(status.st_mode) and _identity(status) not in self._seen:
                yield self._file(path, status)
        except OSError:
            yield Skipped(path, "can't be read")

    def _file(self, path: str, status: os.stat_result) -> File:
        self._seen.add(_identity(status))
        self._count += 1
        return File(path=path, size=status.st_size, modified=status.st_mtime_ns)


def _descend(root: int, names: Iterable[str], *, excluded: Collection[Identity] = ()) -> int:
    """Opens the directory below another one name by name, and follows no link. Raises OSError, also for an excluded one."""
    held = os.dup(root)
    try:
        for name in names:
            following = os.open(name, _DIRECTORY, dir_fd=held)
            os.close(held)
            held = following
            if _identity(os.fstat(held)) in excluded:
                raise PermissionError
    except (OSError, ValueError):
        os.close(held)
        raise
    return held


def _names(path: str) -> list[str]:
    """The names that a path is made of. Raises `PATH_REFUSED` for one that isn't as `files` gives them."""
    names = path.split("/")
    if "\0" in path or any(name in ("", ".", "..") for name in names):
        raise _refused(path)
    return names


def relative_target(real: str, path: str) -> str | None:
    """Where a path in the folder `real` ends up after all links, relative to it; None when outside or nowhere."""
    try:
        target = os.path.realpath(os.path.join(real, path), strict=True)
    except (OSError, ValueError):
        return None
    # Compared by whole names: /docs-secret is not in /docs.
    if target == real or os.path.commonpath([real, target]) != real:
        return None
    return os.path.relpath(target, real)


def too_large(path: str, limit: int) -> CodedError:
    """The refusal of a file that has more than `limit` bytes."""
    return CodedError(
        code="FILE_TOO_LARGE",
        field="path",
        message=f"“{path}” is larger than {limit // (1024 * 1024)} MB.",
        fix="Split it into smaller files.",
    )


def _refused(path: str) -> CodedError:
    return CodedError(
        code="PATH_REFUSED",
        field="path",
        message=f"“{path[:200]}” is not a file of this folder.",
        fix="Name a file in the folder by its path relative to it.",
    )


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name.endswith("~")


def _name_problem(path: str) -> str:
    if len(path) > MAX_PATH:
        return "its path is too long"
    # A name is shown to models and people: it may not hold a line break or bytes that are no text.
    if not path.isprintable():
        return "its name is not plain text"
    return ""


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


def _identity_of(path: str) -> Identity | None:
    try:
        return _identity(os.stat(path))
    except OSError:
        return None
