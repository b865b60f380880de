"""Tells reasoning from answer where a local model writes both into one text: <think>…</think> at its beginning."""

from collections.abc import Iterator

OPEN, CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits one growing text into (is_reasoning, piece); tags may come in any pieces, and are left out."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, delta: str) -> Iterator[tuple[bool, str]]:
        """Takes the next delta; yields what is sure by now."""
        if self._state == "answer":
            yield False, delta
            return
        text, self._held = self._held + delta, ""
        if self._state == "start":
            begun = text.lstrip()
            if not begun.startswith(OPEN):
                if OPEN.startswith(begun):
                    self._held = text
                    return
                self._state = "answer"
                yield False, text
                return
            self._state, text = "thinking", begun.removeprefix(OPEN)
        if self._state == "thinking":
            yield from self._think(text)
        elif answer := text.lstrip():
            self._state = "answer"
            yield False, answer

    def close(self) -> Iterator[tuple[bool, str]]:
        """Yields what was held back, as nothing follows."""
        held, self._held = self._held, ""
        if held:
            yield self._state == "thinking", held

    def _think(self, text: str) -> Iterator[tuple[bool, str]]:
        reasoning, closed, answer = text.partition(CLOSE)
        if not closed:
            kept = next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
            reasoning, self._held = text[: len(text) - kept], text[len(text) - kept :]
        if reasoning:
            yield True, reasoning
        if closed:
            # The blank lines between the tag and the answer belong to neither.
            self._state = "between"
            yield from self.feed(answer)
