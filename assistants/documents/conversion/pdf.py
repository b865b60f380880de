"""PDF, page by page."""

from collections.abc import Iterator

import pypdfium2

from .converted import Converted, Room, Section, Unreadable

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFFFE: "-", 0x00AD: "", 0xFFFF: ""}


def read_pdf(data: bytes) -> Converted:
    """The text of every page that has some. Raises Unreadable."""
    try:
        document = pypdfium2.PdfDocument(data)
        title = str(document.get_metadata_value("Title") or "").strip()
    except pypdfium2.PdfiumError as error:
        protected = "password" in str(error).lower()
        raise Unreadable("protected by a password" if protected else "not a PDF file, or damaged") from None
    room = Room()
    unread: list[int] = []
    sections = tuple(_pages(document, room, unread))
    if not sections:
        raise Unreadable("holds no text, perhaps only pictures of it")
    notes = ["the rest was not read: it is too long"] if room.left <= 0 else []
    notes += [f"{len(unread)} of {len(document)} pages are damaged"] if unread else []
    return Converted(sections, title=title, note="; ".join(notes))


def _pages(document: pypdfium2.PdfDocument, room: Room, unread: list[int]) -> Iterator[Section]:
    for number in range(len(document)):
        if room.left <= 0:
            return
        try:
            page = document[number]
            text = page.get_textpage().get_text_range()
            page.close()
        except pypdfium2.PdfiumError:
            unread.append(number + 1)
            continue
        if text.strip():
            yield Section(f"page {number + 1}", room.take(_plain(text)))


def _plain(text: str) -> str:
    lines = (line.rstrip() for line in text.translate(_LIGATURES).replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return "\n".join(lines).strip("\n")
