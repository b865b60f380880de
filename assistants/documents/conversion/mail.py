"""E-mails: who wrote what to whom and when, and the messages that were attached."""

from collections.abc import Iterator
from email import policy
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser

from ..web_page import read_page
from .converted import Converted, Room, Section, Unreadable

HEADERS = ("From", "To", "Cc", "Date", "Subject")
MOST_PARTS = 500
MOST_DEPTH = 4


def read_mail(data: bytes) -> Converted:
    """The headers that people read, the text, the names of attachments; attached messages as well. Raises Unreadable."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    if not any(message[name] for name in HEADERS):
        raise Unreadable("not an e-mail")
    room = Room()
    sections = []
    for number, (each, depth) in enumerate(_messages(message, 0)):
        if room.left <= 0 or number >= MOST_PARTS:
            break
        label = f"attached message {number}" if depth else ""
        sections.append(Section(label, room.take(_text(each))))
    note = "the rest was not read: it is too long" if room.left <= 0 else ""
    return Converted(tuple(sections), title=_header(message, "Subject")[:200], note=note)


def _messages(message: EmailMessage, depth: int) -> Iterator[tuple[EmailMessage, int]]:
    yield message, depth
    if depth < MOST_DEPTH:
        for part in _parts(message):
            if part.get_content_type() == "message/rfc822":
                for inner in part.iter_parts():
                    if isinstance(inner, EmailMessage):
                        yield from _messages(inner, depth + 1)


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts of this message, but not those of a message inside of it."""
    queue, seen = [message], 0
    while queue and seen < MOST_PARTS:
        part = queue.pop(0)
        seen += 1
        yield part
        if part.get_content_maintype() == "multipart":
            queue += [each for each in part.iter_parts() if isinstance(each, EmailMessage)]


def _text(message: EmailMessage) -> str:
    head = [f"{name}: {value}" for name in HEADERS if (value := _header(message, name))]
    if names := [_plain(name) for part in _parts(message) if (name := part.get_filename())]:
        head.append(f"Attachments, not read: {', '.join(names)}")
    return "\n".join(head) + "\n\n" + _body(message)


def _body(message: EmailMessage) -> str:
    part = next((each for kind in ("plain", "html") for each in _parts(message) if _is_text(each, kind)), None)
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, UnicodeError, ValueError, MessageError):
        text = bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    return read_page(text).text if part.get_content_subtype() == "html" else text.replace("\r\n", "\n").strip()


def _is_text(part: EmailMessage, kind: str) -> bool:
    return part.get_content_type() == f"text/{kind}" and part.get_content_disposition() != "attachment"


def _header(message: EmailMessage, name: str) -> str:
    try:
        return _plain(str(message[name] or ""))
    except (ValueError, AttributeError, IndexError, MessageError):
        # The parser of addresses stumbles over some that are none.
        return ""


def _plain(text: str) -> str:
    return " ".join(text.split())[:1000]
