"""Word documents, by way of a web page."""

from io import BytesIO

import mammoth

from ..web_page import read_page
from .archive import check_parts, open_archive
from .converted import Converted, Room, Section, Unreadable

PARTS = ("document", "footnotes", "endnotes", "comments", "styles", "numbering")
# What is a heading beside those that the library knows; programs in any language call it so.
STYLES = "p[style-name='Title'] => h1:fresh"


def read_word(data: bytes) -> Converted:
    """The text with its headings, lists, tables and footnotes; pictures are left out. Raises Unreadable."""
    with open_archive(data) as archive:
        if "word/document.xml" not in archive.namelist():
            raise Unreadable("not a Word document")
        check_parts(archive, [f"word/{part}.xml" for part in PARTS])
    made = mammoth.convert_to_html(BytesIO(data), convert_image=_no_picture, style_map=STYLES)
    page = read_page(made.value)
    if not page.text.strip():
        raise Unreadable("holds no text")
    room = Room()
    section = Section("", room.take(page.text))
    return Converted((section,), markup=True, note="the rest was not read: it is too long" if room.left <= 0 else "")


def _no_picture(image: object) -> list[object]:
    return []
