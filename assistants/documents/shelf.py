"""The mirrors of some roots as one tree of documents, opened beneath them and nowhere else (A-32, S33)."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from assistants.errors import CodedError
from assistants.models import DocumentRoot

from .mirror import ENDING, Mirror

MAX_PATH = 1000
MAX_DEPTH = 40
MAX_BYTES = 40 * 1024 * 1024
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe waits for somebody who writes into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DRIVE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


@dataclass(frozen=True)
class Entry:
    """A document or a folder, by its name `<root name>/<path>`; `size` counts the bytes of a document's text."""

    name: str
    is_folder: bool
    size: int = 0


class Shelf:
    """The documents of these roots, named `<root name>/<path>`; the empty name stands above all of them.

    Each root's mirror is opened once and held, so that whatever is put in its place meanwhile is not looked at. Raises
    `EXPLORER_PATH_CONTAINMENT` for a name that leads out or through a link, even if it came back, and `DOCUMENT_UNKNOWN`.
    """

    def __init__(self, roots: Sequence[DocumentRoot]) -> None:
        # The longest name first: one root's name may begin like another's.
        self._roots = sorted(roots, key=lambda root: (-len(root.name), root.name))
        self._held: dict[int, int] = {}

    def __enter__(self) -> Self:
        for root in self._roots:
            folder = Mirror(root.pk).folder
            try:
                real = Path(os.path.realpath(folder.parent)) / folder.name
                self._held[root.pk] = os.open(real, _DIRECTORY)
            except OSError:
                # Nothing of it was read yet.
                continue
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for descriptor in self._held.values():
            os.close(descriptor)

    def read(self, name: str) -> tuple[str, str]:
        """A document's name in full, and its text."""
        root, parts = self._place(name)
        if root is None or not parts:
            raise unknown(name)
        above = self._open_folder(root, parts[:-1], name)
        try:
            # Looked at first: opening a device may already do something.
            status = os.stat(parts[-1] + ENDING, dir_fd=above, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise contained(name)
            descriptor = os.open(parts[-1] + ENDING, _FILE, dir_fd=above)
        except FileNotFoundError:
            raise self._missing(above, parts[-1], name) from None
        except (OSError, ValueError):
            raise contained(name) from None
        finally:
            os.close(above)
        with os.fdopen(descriptor, "rb") as file:
            return "/".join([root.name, *parts]), file.read(MAX_BYTES).decode("utf-8", "replace")

    def entries(self, name: str) -> list[Entry]:
        """What lies directly in a folder, folders first."""
        root, parts = self._place(name)
        if root is None:
            return [Entry(each.name, is_folder=True) for each in sorted(self._roots, key=lambda each: each.name)]
        descriptor = self._open_folder(root, parts, name)
        try:
            return list(_listed(descriptor, "/".join([root.name, *parts])))
        finally:
            os.close(descriptor)

    def documents(self, name: str) -> Iterator[Entry]:
        """Every document in a folder and below it, or the document itself; by name."""
        root, parts = self._place(name)
        if root is None:
            for each in sorted(self._roots, key=lambda each: each.name):
                yield from self._below(each, [], each.name, 0)
            return
        full = "/".join([root.name, *parts])
        try:
            listed = self._below(root, parts, full, len(parts))
            first = next(listed, None)
        except CodedError as error:
            if error.code != "DOCUMENT_UNKNOWN":
                raise
            found, text = self.read(name)
            yield Entry(found, is_folder=False, size=len(text))
            return
        if first:
            yield first
        yield from listed

    def _below(self, root: DocumentRoot, parts: list[str], full: str, depth: int) -> Iterator[Entry]:
        descriptor = self._open_folder(root, parts, full)
        try:
            listed = sorted(_listed(descriptor, full), key=lambda entry: entry.name)
        finally:
            os.close(descriptor)
        for entry in listed:
            if not entry.is_folder:
                yield entry
            elif depth < MAX_DEPTH:
                yield from self._below(root, [*parts, entry.name.rpartition("/")[2]], entry.name, depth + 1)

    def _place(self, name: str) -> tuple[DocumentRoot | None, list[str]]:
        """The root that the name begins with, and the names below it."""
        parts = check_name(name)
        if not parts:
            return None, []
        wanted = "/".join(parts)
        for root in self._roots:
            if wanted == root.name or wanted.startswith(f"{root.name}/"):
                return root, [part for part in wanted[len(root.name) :].split("/") if part]
        raise unknown(name, [root.name for root in self._roots])

    def _open_folder(self, root: DocumentRoot, parts: Sequence[str], name: str) -> int:
        """Opens name by name and follows no link, so that none can lead out, whenever it was put there."""
        if root.pk not in self._held:
            raise unknown(name)
        held = os.dup(self._held[root.pk])
        try:
            for part in parts:
                following = os.open(part, _DIRECTORY, dir_fd=held)
                os.close(held)
                held = following
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError)
            os.close(held)
            raise (unknown(name) if missing else contained(name)) from None
        return held

    def _missing(self, above: int, part: str, name: str) -> CodedError:
        """A link or a device may stand under the very name, without the mirror's ending."""
        try:
            status = os.stat(part, dir_fd=above, follow_symlinks=False)
        except (OSError, ValueError):
            return unknown(name)
        return unknown(name) if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode) else contained(name)


def check_name(name: str) -> list[str]:
    """The parts of a name. Raises `EXPLORER_PATH_CONTAINMENT` for any way up, even one that would come back (A-32)."""
    odd = len(name) > MAX_PATH or "\\" in name or not name.isprintable()
    if odd or name.startswith(("/", "~")) or _DRIVE.match(name) or ".." in name.split("/"):
        raise contained(name)
    return [part for part in name.split("/") if part not in ("", ".")]


def contained(name: str) -> CodedError:
    """The refusal of a name that is none of the assigned documents'."""
    shown = name[:200].encode("utf-8", "replace").decode()
    return CodedError(
        code="EXPLORER_PATH_CONTAINMENT",
        field="path",
        message=f"“{shown}” leads out of the assigned documents.",
        fix="Name documents and folders as ls, find and grep give them, without any “..”.",
    )


def unknown(name: str, near: Sequence[str] = ()) -> CodedError:
    """The answer to a name that nothing has."""
    hint = f" There is: {', '.join(near[:20])}." if near else ""
    return CodedError(
        code="DOCUMENT_UNKNOWN",
        field="path",
        message=f"There is no document or folder “{name[:200]}”.{hint}",
        fix="Look for it with find, or list its folder with ls.",
    )


def _listed(descriptor: int, full: str) -> Iterator[Entry]:
    """Folders and documents; whatever else lies there is none of ours."""
    entries = sorted(os.scandir(descriptor), key=lambda entry: (not entry.is_dir(follow_symlinks=False), entry.name))
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield Entry(f"{full}/{entry.name}", is_folder=True)
        elif entry.is_file(follow_symlinks=False) and entry.name.endswith(ENDING):
            size = entry.stat(follow_symlinks=False).st_size
            yield Entry(f"{full}/{entry.name.removesuffix(ENDING)}", is_folder=False, size=size)
