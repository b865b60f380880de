"""The last line of growing prose: words that only follow on it need no parsing."""

import re
from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString

from assistants.rendering.markdown import Block

# Letters, digits, spaces and commas mean nothing in Markdown where a word stands before them that is made of them alone.
_WORDS = re.compile(r"(?:[^\W_]|[ ,])+")
_LAST_WORD = re.compile(r"(?:\A|(?<=\s))(?:[^\W_]|,)+\Z")
_ENDS = re.compile(r"(?:\s*</(?:p|li|ul|ol|h[1-6]|blockquote)>)+\s*\Z")


class OpenLine:
    """A block whose HTML ends with the words of the text's last line and closing tags: `added` is what came since."""

    def __init__(self, head: str, spaces: str, ends: str) -> None:
        self.added = ""
        self._head, self._spaces, self._ends = head, spaces, ends

    def extend(self, more: str) -> SafeString | None:
        """Takes more text and gives the block's new HTML; None if it is more than words, which only parsing understands."""
        if not _WORDS.fullmatch(more):
            return None
        # Spaces at the end of a line are shown, and handed out, when something follows on them: a reader who gets the
        # block as a whole in between has none of them yet.
        line = self._spaces + more
        words = line.rstrip(" ")
        self._spaces = line[len(words) :]
        self.added += words
        self._head += escape(words)
        return SafeString(self._head + self._ends)


def find_open_line(blocks: Sequence[Block], html: str, text: str) -> OpenLine | None:
    """The line at the end of the text, if words that follow it can only go to the end of the last block's HTML."""
    line = text[text.rfind("\n") + 1 :]
    words = line.rstrip(" ")
    word = _LAST_WORD.search(words)
    # A link's definition at the end shows nothing, and the block before it has ended.
    if not word or not blocks or blocks[-1].end != text.count("\n") + 1:
        return None
    ends = _ENDS.search(html)
    if not ends or not html[: ends.start()].endswith(word[0]):
        return None
    return OpenLine(html[: ends.start()], line[len(words) :], ends[0])
