"""Presentations, slide by slide, with the speaker's notes."""

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from .archive import open_archive, xml_of
from .converted import Converted, Room, Section, Unreadable

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
TITLES = frozenset({"title", "ctrTitle"})


def read_slides(data: bytes) -> Converted:
    """Every slide that has text, in the order in which they are shown. Raises Unreadable."""
    room = Room()
    with open_archive(data) as archive:
        if "ppt/presentation.xml" not in archive.namelist():
            raise Unreadable("not a presentation")
        sections = [
            Section(f"slide {number}", room.take(text))
            for number, name in enumerate(_slide_names(archive), 1)
            if room.left > 0 and (text := _slide(archive, name))
        ]
    if not sections:
        raise Unreadable("holds no text")
    note = "the rest was not read: it is too long" if room.left <= 0 else ""
    return Converted(tuple(sections), markup=True, note=note)


def _slide_names(archive: ZipFile) -> Iterator[str]:
    targets = _targets(archive, "ppt/presentation.xml")
    for each in xml_of(archive, "ppt/presentation.xml").iter(f"{P}sldId"):
        _, name = targets.get(each.get(f"{R}id", ""), ("", ""))
        if name:
            yield name


def _targets(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """What a part refers to, by id: the last word of the kind, and the name of the entry."""
    folder, _, name = part.rpartition("/")
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.namelist():
        return {}
    return {
        each.get("Id", ""): (each.get("Type", "").rpartition("/")[2], _joined(folder, each.get("Target", "")))
        for each in xml_of(archive, relations)
        if each.get("TargetMode") != "External"
    }


def _joined(folder: str, target: str) -> str:
    return target[1:] if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")


def _slide(archive: ZipFile, name: str) -> str:
    pieces = list(_shapes(xml_of(archive, name)))
    for kind, target in _targets(archive, name).values():
        if kind == "notesSlide" and target in archive.namelist():
            notes = [
                text for shape in xml_of(archive, target).iter(f"{P}sp") if _place(shape) == "body" if (text := _text(shape))
            ]
            pieces += [f"Notes: {text}" for text in notes]
    return "\n\n".join(pieces)


def _shapes(slide: Element) -> Iterator[str]:
    """Texts in their order; a title is a heading, a table has its rows in lines."""
    for shape in slide.iter():
        if shape.tag == f"{P}sp" and (text := _text(shape)):
            yield "## " + " ".join(text.split()) if _place(shape) in TITLES else text
        elif shape.tag == f"{A}tbl":
            rows = ([" ".join(_text(cell).split()) for cell in row.iter(f"{A}tc")] for row in shape.iter(f"{A}tr"))
            yield "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _place(shape: Element) -> str:
    placeholder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return "" if placeholder is None else placeholder.get("type", "")


def _text(shape: Element) -> str:
    lines = []
    for paragraph in shape.iter(f"{A}p"):
        parts = (
            "\n" if each.tag == f"{A}br" else each.text or "" for each in paragraph.iter() if each.tag in (f"{A}t", f"{A}br")
        )
        lines.append("".join(parts).strip())
    return "\n".join(line for line in lines if line)
