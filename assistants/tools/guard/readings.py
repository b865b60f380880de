"""The ways to read a text: plainly, and with what is encoded in it decoded, within bounds."""

import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from .rules import Risk

# Between texts that are searched together: no pattern reaches across it.
SEPARATOR = "\n\0\n"
MAX_RUNS, MAX_CHARS = 1024, 256 * 1024

_TAGS = "\U000e0000-\U000e007f"
_TAG = re.compile(f"[{_TAGS}]")
_FROM_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_INVISIBLE = re.compile(f"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff{_TAGS}]+")
_FOREIGN = re.compile("[\u0370-\u04ff]")
_MIXED = re.compile(r"[a-z][\u0370-\u04ff]|[\u0370-\u04ff][a-z]", re.I)
_LOOK_ALIKES = str.maketrans(
    "аеёіјкмнорсԁԛѕтухүһӏАВЕІЈКМНОРСЅТУХαεικνορτυχϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeeijkmhopcdqstyxyhlABEIJKMHOPCSTYXaeikvoptuxcABEZHIKMNOPTYX",
)
_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{4,}){0,4000}")
_HEX = re.compile(r"[0-9A-Fa-f]{24,}")
_SPACED_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:[ ,:]{1,2}(?:0x|\\x)?[0-9A-Fa-f]{2}){11,2000}")
_NO_DIGIT = re.compile(r"0x|\\x|[ ,:]")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY = re.compile(r"&(?:#|[A-Za-z]{2,8};)")
_ESCAPE = re.compile(r"\\{1,4}(?:u\{?([0-9A-Fa-f]{4,6})\}?|x([0-9A-Fa-f]{2})|([nrt\"'/]))")
_ESCAPED = {"n": "\n", "r": "\n", "t": "\t"}
_ROTATED = ("vtaber", "qvfertneq", "flfgrz cebzcg", "cerivbhf vafgehpgvba", "vtabevrer")
_REVERSED = ("snoitcurtsni", "negnusiewna", "tpmorp metsys")
_LEET = re.compile(r"\b(?:1gn0?re?3?|ign0r[e3]|1gnor[e3]|pr3v[i1]0?o?us|1nstruct|syst3m|pr0mpt)", re.I)
_FROM_LEET = str.maketrans("013457@$", "oieastas")


@dataclass
class Budget:
    """What may still be decoded of one text and of what was found in it."""

    runs: int = MAX_RUNS
    chars: int = MAX_CHARS

    def take(self, text: str) -> str:
        """The part of a text that may still be decoded."""
        part = text[: self.chars] if self.runs > 0 else ""
        self.runs -= 1
        self.chars -= len(part)
        return part


def _single_letters() -> dict[int, str]:
    """Letters of other widths and styles, each with the plain letter that it stands for."""
    styled = [*range(0x2070, 0x2190), *range(0x2460, 0x2500), *range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800)]
    plain_forms = {code: unicodedata.normalize("NFKC", chr(code)) for code in styled}
    return {code: form for code, form in plain_forms.items() if len(form) == 1 and form.isascii()} | {0xFF5C: "|"}


_STYLED = _single_letters()
# Ranges, not the letters one by one: a class of those is ten times slower.
_STYLED_RUN = re.compile("[\u2070-\u218f\u2460-\u24ff\uff01-\uff5e\U0001d400-\U0001d7ff]+")


def plain(text: str) -> str:
    """The text as a model understands it: small letters of one style, nothing invisible, and one kind of line break.

    Starts with a line break, so that every line has one in front. Not a full normalisation, which takes quadratic time
    on long runs of accents.
    """
    if not text.isascii():
        text = _STYLED_RUN.sub(lambda run: run[0].translate(_STYLED), _INVISIBLE.sub("", text))
        if _FOREIGN.search(text) and _MIXED.search(text):
            text = text.translate(_LOOK_ALIKES)
    for mark in _LINE_ENDS:
        text = text.replace(mark, "\n")
    return "\n" + text.lower()


def decoded(text: str, budget: Budget, risk: Risk) -> Iterator[tuple[str, str]]:
    """What is encoded in the text, as (kind of encoding, decoded text); kinds that find nothing are left out."""
    if runs := list(_runs(text, budget)):
        yield "base64 or hex", SEPARATOR.join(runs)
    if "\\" in text and _ESCAPE.search(text):
        yield "escapes", _ESCAPE.sub(_unescape, budget.take(text))
    if "%" in text and _PERCENT.search(text):
        yield "percent signs", unquote(budget.take(text))
    if "&" in text and _ENTITY.search(text):
        yield "HTML entities", html.unescape(budget.take(text))
    if not text.isascii() and _TAG.search(text):
        yield "invisible letters", budget.take(text).translate(_FROM_TAGS)
    small = text.lower()
    if any(word in small for word in _REVERSED):
        yield "backwards", budget.take(text)[::-1]
    if risk >= Risk.MEDIUM and any(word in small for word in _ROTATED):
        yield "ROT13", codecs.encode(budget.take(text), "rot13")
    if risk >= Risk.HIGH and _LEET.search(text):
        yield "digits for letters", budget.take(text).translate(_FROM_LEET)


def _runs(text: str, budget: Budget) -> Iterator[str]:
    for run in _ENCODED.finditer(text):
        if budget.runs <= 0 or budget.chars <= 0:
            return
        digits = budget.take("".join(run[0].split()))
        yield _as_text(_from_base64(digits))
        yield from (_as_text(bytes.fromhex(line[: len(line) // 2 * 2])) for line in run[0].split() if _HEX.fullmatch(line))
    for run in _SPACED_HEX.finditer(text):
        if budget.runs <= 0 or budget.chars <= 0:
            return
        digits = _NO_DIGIT.sub("", budget.take(run[0]))
        yield _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_base64(digits: str) -> bytes:
    whole = digits[: len(digits) // 4 * 4] or digits
    rest = digits[len(whole) :]
    padded = whole + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else "")
    return binascii.a2b_base64(padded.replace("-", "+").replace("_", "/"))


def _as_text(data: bytes) -> str:
    """Bytes of another kind leave a few stray letters, which match nothing. NULs go: it may be UTF-16."""
    return data.decode("utf-8", "ignore").replace("\0", "")


def _unescape(match: re.Match[str]) -> str:
    if code := match[1] or match[2]:
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
    return _ESCAPED.get(match[3], match[3])
