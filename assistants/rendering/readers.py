"""The numbered pieces of a growing page, and what each of its readers has been given of them."""

from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString


class Addition(SafeString):
    """Escaped text to put at the end of a block that the reader has, in place of the whole block; `text` is not escaped.

    With `is_code` it goes to the end of the block's `code` element, else to the end of its last line: before the closing
    tags of the paragraphs, lists, headings and quotes that stand there.
    """

    text: str
    is_code: bool


@dataclass(frozen=True)
class Cursor:
    """What one reader has been given: everything up to this version. A new reader starts with `Cursor()`.

    `growing` and `chars` say how much it has of the code block or the line that is being written.
    """

    version: int = 0
    growing: tuple[int, int] = (0, 0)
    chars: int = 0


@dataclass(frozen=True)
class Growing:
    """The plain text at a block's end that is being written; `key` stays the same for as long as it only grows."""

    key: tuple[int, int]
    text: str
    is_code: bool = False


@dataclass(frozen=True)
class _Piece:
    html: SafeString
    version: int
    growing: Growing | None = None


class Pieces:
    """A list of HTML pieces that knows when each was changed. One thread writes; any thread may read."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._version = 0

    def __getitem__(self, numbers: slice) -> list[SafeString]:
        return [piece.html for piece in self._pieces[numbers]]

    def put(self, number: int, html: SafeString, growing: Growing | None = None) -> None:
        """Sets a piece, or adds the next one; the same HTML again is no change."""
        if number < len(self._pieces) and self._pieces[number].html == html:
            return
        self._pieces[number : number + 1] = [_Piece(html, self._version + 1, growing)]
        self._version += 1

    def frames(self, seen: Cursor, *, additions: bool) -> tuple[list[tuple[int, SafeString]], Cursor]:
        """What changed since `seen`, and the cursor that has seen it; see `MarkdownStream.frames`."""
        # The version is read first and written last: a reader in another thread may get a piece twice, but never miss one.
        version = self._version
        changed: list[tuple[int, SafeString]] = []
        last = None
        for number, piece in enumerate(list(self._pieces)):
            last = piece.growing or last
            if piece.version > seen.version and (piece.html or seen.version):
                changed.append((number, _addition(piece, seen) if additions else piece.html))
        return changed, Cursor(version, last.key, len(last.text)) if last else Cursor(version)


def _addition(piece: _Piece, seen: Cursor) -> SafeString:
    if piece.growing is None or piece.growing.key != seen.growing:
        return piece.html
    text = piece.growing.text[seen.chars :]
    addition = Addition(escape(text))
    addition.text, addition.is_code = text, piece.growing.is_code
    return addition
