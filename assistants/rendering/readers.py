"""The numbered pieces of a growing page, and what each of its readers has been given of them."""

from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString


class Addition(SafeString):
    """Escaped text to put at the end of the `code` element of a block that the reader has, in place of the whole block."""


@dataclass(frozen=True)
class Cursor:
    """What one reader has been given: everything up to this version. A new reader starts with `Cursor()`.

    `code_block` and `code_chars` say how much it has of the code block that is being written.
    """

    version: int = 0
    code_block: tuple[int, int] = (0, 0)
    code_chars: int = 0


@dataclass(frozen=True)
class GrowingCode:
    """The plain text of the code block that is being written; `key` stays the same for as long as it only grows."""

    key: tuple[int, int]
    text: str


@dataclass(frozen=True)
class _Piece:
    html: SafeString
    version: int
    code: GrowingCode | None = None


class Pieces:
    """A list of HTML pieces that knows when each was changed. One thread writes; any thread may read."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._version = 0

    def __getitem__(self, numbers: slice) -> list[SafeString]:
        return [piece.html for piece in self._pieces[numbers]]

    def put(self, number: int, html: SafeString, code: GrowingCode | None = None) -> None:
        """Sets a piece, or adds the next one; the same HTML again is no change."""
        if number < len(self._pieces) and self._pieces[number].html == html:
            return
        self._pieces[number : number + 1] = [_Piece(html, self._version + 1, code)]
        self._version += 1

    def frames(self, seen: Cursor, *, additions: bool) -> tuple[list[tuple[int, SafeString]], Cursor]:
        """What changed since `seen`, and the cursor that has seen it; see `MarkdownStream.frames`."""
        # The version is read first and written last: a reader in another thread may get a piece twice, but never miss one.
        version = self._version
        pieces = list(self._pieces)
        changed = [
            (number, _addition(piece, seen) if additions else piece.html)
            for number, piece in enumerate(pieces)
            if piece.version > seen.version and (piece.html or seen.version)
        ]
        code = next((piece.code for piece in reversed(pieces) if piece.code), None)
        return changed, Cursor(version, code.key, len(code.text)) if code else Cursor(version)


def _addition(piece: _Piece, seen: Cursor) -> SafeString:
    if piece.code is None or piece.code.key != seen.code_block:
        return piece.html
    return Addition(escape(piece.code.text[seen.code_chars :]))
