"""Text shown exactly as typed, escaped, in pieces that never change once they are full."""

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

CHUNK_CHARS = 8 * 1024


def render_plain(text: str) -> SafeString:
    """Shows a person's own text as typed: escaped, in `div.plain`, whose style keeps the line breaks (X5)."""
    text = clean_text(text)
    ends = chunk_ends(text)
    starts = [0, *ends]
    return SafeString("".join(map(draw_chunk, (text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if a < b))))


def draw_chunk(text: str) -> SafeString:
    """Draws one piece of plain text."""
    return mark_safe(f'<div class="plain">{escape(text)}</div>')


def chunk_ends(text: str, start: int = 0) -> list[int]:
    """Where the full pieces of a text end, from `start` on: after a line, else in a line that is too long.

    Text that is added later never moves an end, so a growing text sends only its last piece again.
    """
    ends = []
    while len(text) - start > CHUNK_CHARS:
        newline = text.find("\n", start + CHUNK_CHARS, start + 2 * CHUNK_CHARS)
        if newline < 0 and len(text) - start < 2 * CHUNK_CHARS:
            break
        start = newline + 1 if newline >= 0 else start + 2 * CHUNK_CHARS
        ends.append(start)
    return ends


def clean_text(text: str) -> str:
    """Makes any str fit for HTML: line ends become \\n, surrogate pairs are joined, lone ones and NUL become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Deltas cut by UTF-16 units arrive as two halves of one character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
