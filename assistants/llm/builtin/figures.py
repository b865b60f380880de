"""The kind of figure that a question asks for: how long, when, how much money or just a number; and what states one."""

import re

DURATION, MOMENT, MONEY, NUMBER = "duration", "moment", "money", "number"

_DURATION = re.compile(
    r"\bhow (?:long|fast|quickly|soon)\b|\b(?:lead|delivery) times?\b|\bwie (?:lange|schnell|bald)\b|\b\w*fristen?\b|"
    r"\blieferzeit(?:en)?\b",
    re.IGNORECASE,
)
# In the middle of a question “when” says under which condition, not that a moment is asked for.
_MOMENT = re.compile(
    r"(?:^|[,;:.!?]|\b(?:and|or|but|until|till|by|since|from|tell me|know|exactly)) *when\b|\bwann\b|\bdeadline\b|"
    r"\bstichtag\b|\bopening hours\b|\böffnungszeiten\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\b(?:costs?|prices?|fees?|amounts?|expensive|kostet|kosten|\w*preise?|gebühr(?:en)?|betrag|teuer)\b", re.IGNORECASE
)
_NUMBER = {
    "en": re.compile(
        r"\bhow (?:many|much|often|far|old|high|big|large|heavy)\b|\bpercent|"
        r"\b(?:what|which) (?:date|number|rate|percentage|year|day|time|limit)s?\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\bwie ?(?:viele?|oft|hoch|weit|alt|groß|schwer)\b|\bprozent|\bwelche[rsn]? (?:datum|anzahl|jahr|satz|tag)\b",
        re.IGNORECASE,
    ),
}
_UNITS = (
    r"days?|weeks?|hours?|minutes?|months?|years?|tage?n?|wochen?|stunden?|minuten?|monate?n?|jahre?n?|"
    r"(?:werk|arbeits|kalender)tage?n?"
)
_STATED = {
    DURATION: re.compile(rf"\d (?:\w+ )?(?:{_UNITS})\b", re.IGNORECASE),
    MONEY: re.compile(r"[€$£] ?\d|\d ?(?:€|\$|£|eur\b|usd\b|gbp\b|euros?\b|dollars?\b)|\((?:eur|usd|gbp|€)\)", re.IGNORECASE),
}
_AMOUNT = re.compile(r"\d{1,3}(?:[.,]\d+)*|[1-9]\d*0{2,}|euros?|eur|usd|dollars?|percent|prozent")
_DIGIT = re.compile(r"\d")


def wanted_figure(text: str, language: str) -> str:
    """The kind of figure that a question asks for; empty if it asks for none."""
    for kind, pattern in ((MONEY, _MONEY), (DURATION, _DURATION), (MOMENT, _MOMENT), (NUMBER, _NUMBER[language])):
        if pattern.search(text):
            return kind
    return ""


def stated_figure(kind: str, text: str) -> float:
    """How well a text states such a figure, 0..1: a number of the kind that was asked for, or some other number."""
    if not kind or not _DIGIT.search(text):
        return 0.0
    if kind not in _STATED:
        return 1.0 if kind == MOMENT else 0.7
    return 1.0 if _STATED[kind].search(text) else 0.25


def is_amount(folded: str) -> bool:
    """Whether a word is a bare amount or its unit; a year or a number of something may be what a question is about."""
    return bool(_AMOUNT.fullmatch(folded))
