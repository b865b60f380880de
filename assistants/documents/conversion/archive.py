"""Opens an office file's archive and refuses one that unpacks to far more than it seems."""

from collections.abc import Iterable
from io import BytesIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from .converted import Unreadable

MOST_ENTRIES = 20_000
MOST_UNPACKED = 300 * 1024 * 1024
MOST_OF_A_PART = 100 * 1024 * 1024


def open_archive(data: bytes) -> ZipFile:
    """The archive, if it says that it is of a bearable size (S38). Raises Unreadable."""
    try:
        archive = ZipFile(BytesIO(data))
    except (BadZipFile, ValueError, OverflowError):
        raise Unreadable("not a file of its kind, or damaged or protected by a password") from None
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES or sum(each.file_size for each in entries) > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 1024**2} MB")
    return archive


def part_of(archive: ZipFile, name: str) -> bytes:
    """One entry's bytes, counted while they are unpacked: what an archive says about itself may be a lie."""
    try:
        with archive.open(name) as entry:
            data = entry.read(MOST_OF_A_PART + 1)
    except (KeyError, BadZipFile, EOFError, RuntimeError, NotImplementedError, OSError):
        raise Unreadable("damaged, or protected by a password") from None
    if len(data) > MOST_OF_A_PART:
        raise Unreadable(f"unpacks to more than {MOST_OF_A_PART // 1024**2} MB")
    return data


def xml_of(archive: ZipFile, name: str) -> ElementTree.Element:
    """One entry as XML. Raises Unreadable, also for one that declares entities, as no office program writes them."""
    data = part_of(archive, name)
    # In UTF-16 the mark would be hidden from this search, and no office program writes that either.
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable("declares entities of its own")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError:
        raise Unreadable("damaged: its text is not well-formed") from None


def check_parts(archive: ZipFile, names: Iterable[str]) -> None:
    """Reads the named entries that are there as XML, so that a careless reader is given no poisoned one."""
    present = set(archive.namelist())
    for name in names:
        if name in present:
            xml_of(archive, name)
