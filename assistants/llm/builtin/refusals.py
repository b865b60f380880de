"""Why a call gave nothing, for a person."""

import re

from .phrases import phrase
from .talk import Result

_CODED = re.compile(r"\A\[[A-Z][A-Z0-9_]*\] field=\S* fix=([^\n]*)\n?")


def reason_of(result: Result | None, language: str) -> str:
    """One short sentence: the refusal's own message, else its fix, else that the result was unreadable."""
    if result is None:
        return phrase(language, "unanswered")
    if result.refusal is None:
        return phrase(language, "withheld")
    if result.refusal.code == "NO_DOCUMENTS":
        return phrase(language, "no_documents")
    return one_line(result.refusal.message or result.refusal.fix or result.refusal.code)


def plain_reason(error: str) -> str:
    """The sentence of an error as another tool renders it, without its coded first line."""
    found = _CODED.match(error)
    if not found:
        return one_line(error)
    return one_line(error[found.end() :] or found[1])


def one_line(text: str, limit: int = 300) -> str:
    """The text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + " …"
