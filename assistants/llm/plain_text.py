"""Makes any text from outside storable: no NUL, no lone surrogates, characters whole even when they came in pieces."""

import re

REPLACEMENT = "\ufffd"
# What may be the first part of something that the next delta completes: half a surrogate pair (a JSON escape cut in
# two), or up to three raw bytes of a longer character, which the reader hands on as surrogate escapes.
_UNFINISHED = re.compile(r"(?:[\ud800-\udbff]|[\udcc2-\udcf4][\udc80-\udcbf]{0,2})\Z")
_RAW_BYTES = re.compile(r"[\udc80-\udcff]+")
_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile(r"[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Gives the text without NUL (PostgreSQL refuses it) and with U+FFFD for whatever is no character (F21)."""
    cleaner = TextCleaner()
    return cleaner.feed(text) + cleaner.close()


class TextCleaner:
    """Cleans one growing text; a character that is split over two deltas comes out whole with the second (F21)."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, delta: str) -> str:
        """Takes the next delta and gives what can be shown of it; may be empty."""
        text = self._held + delta if self._held else delta
        self._held = ""
        if "\0" in text:
            text = text.replace("\0", "")
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            return self._mend(text)
        return text

    def close(self) -> str:
        """Gives what is left when nothing follows any more."""
        rest, self._held = self._held, ""
        return _replace(rest)

    def _mend(self, text: str) -> str:
        if tail := _UNFINISHED.search(text):
            self._held = text[tail.start() :] if _may_continue(tail.group()) else ""
            text = text[: tail.start()] if self._held else text
        return _replace(text)


def _may_continue(tail: str) -> bool:
    """Says whether these trailing surrogates can be the beginning of one character."""
    if tail[0] < "\udc00":
        return True
    raw = tail.encode("utf-8", "surrogateescape")
    return len(raw) < (2 if raw[0] < 0xE0 else 3 if raw[0] < 0xF0 else 4)


def _replace(text: str) -> str:
    text = _PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
    text = _RAW_BYTES.sub(lambda run: run.group().encode("utf-8", "surrogateescape").decode("utf-8", "replace"), text)
    return _LONE.sub(REPLACEMENT, text)
