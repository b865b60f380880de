"""Takes the poisoned paragraphs out of a document's text and leaves the others as they are."""

import re

from .search import Search, poisoned

FILTERED = "[FILTERED]"
MAX_FILTERED = 64
_BREAK = re.compile(r"(\n[ \t]*\n)")


def without_poison(text: str, search: Search) -> str:
    """The text with `[FILTERED]` for each poisoned paragraph; empty when what remains is still poisoned (S32)."""
    parts = _BREAK.split(text)
    for place in poisoned(parts, search.seek, most=MAX_FILTERED):
        parts[place] = FILTERED
    mended = "".join(parts)
    return mended if search.seek(mended) is None else ""
