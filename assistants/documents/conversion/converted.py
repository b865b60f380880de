"""What becomes of a converted file: text in sections, each with the name of its place."""

from dataclasses import dataclass

# A document with more text than this is taken in as far as that, and says so (U3).
MOST_CHARS = 8_000_000


class Unreadable(Exception):
    """The file can't be converted; its text says why, in a few words."""


@dataclass(frozen=True)
class Section:
    """A page, sheet, slide or attached message. Without a `label` it is the document itself."""

    label: str
    text: str


@dataclass(frozen=True)
class Converted:
    """A document's sections in order. `markup` says whether headings in them mean something; `note` what was not read."""

    sections: tuple[Section, ...]
    title: str = ""
    markup: bool = False
    note: str = ""


@dataclass
class Room:
    """How many characters a document may still have."""

    left: int = MOST_CHARS

    def take(self, text: str) -> str:
        """The part of the text for which there is room."""
        taken = text[: self.left]
        self.left -= len(taken)
        return taken
