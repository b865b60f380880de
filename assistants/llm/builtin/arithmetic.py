"""Sums: an arithmetic expression is taken out of a sentence and given to the calculator."""

import re
from dataclasses import dataclass

from .phrases import phrase
from .refusals import reason_of
from .steps import Answer, Call, Need, Step
from .stopwords import STOP, split_words
from .talk import Talk
from .words import words_of

_SPOKEN = (
    (r"(?:to the power of|hoch)", "**"),
    (r"(?:multiplied by|times|mal)", "*"),
    (r"(?:divided by|geteilt durch|durch)", "/"),
    (r"(?:plus|und)", "+"),
    (r"minus", "-"),
    (r"(?:per ?cent|prozent)", "%"),
)
_SYMBOLS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", ":": "/", "\u00a0": "", "\u202f": ""})
_NUMBER = r"\d+(?:[.,]\d+)*"
_DATE = re.compile(
    r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}\.\d{1,2}\.(?:\d{2,4}|(?=\s*\w))|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}:\d{2}\b"
)
_SHARE = re.compile(rf"({_NUMBER})\s*%\s*(?:of|von|vom|des|der)\s*({_NUMBER})")
_ADDED_SHARE = re.compile(rf"^({_NUMBER})\s*([+-])\s*({_NUMBER})\s*%$")
_EXPRESSION = re.compile(rf"[(\s-]*{_NUMBER}(?:\s*%)?(?:[\s)]*(?:\*\*|[-+*/])[\s(-]*{_NUMBER}(?:\s*%)?)+[\s)]*")
_TRIGGERS = frozenset(
    split_words(
        """
        calculate compute work result equals equal sum total makes make add up amount amounts euro euros eur dollar dollars
        usd rechne berechne berechnen ausrechnen rechnen ergibt ergeben macht machen ergebnis summe betragt betragen gleich
        """
    )
)


@dataclass(frozen=True)
class Sum:
    """One expression for `calculate`."""

    expression: str

    def advance(self, talk: Talk) -> Step:
        arguments = talk.offers.fit("calculate", expression=self.expression)
        if arguments is None:
            return Answer(phrase(talk.language, "no_calculator"))
        result = talk.result_of("calculate", arguments)
        if result is None:
            return Need((Call("calculate", arguments),))
        value = result.data.get("value", result.data.get("result"))
        if value is None:
            reason = reason_of(result, talk.language)
            return Answer(phrase(talk.language, "calculated_nothing", expression=self.expression, reason=reason))
        shown = [_as_written(str(each), talk.language) for each in (self.expression.replace("*", "×"), value)]
        shown[0] = shown[0].replace("××", "^")
        return Answer(phrase(talk.language, "calculated", expression=shown[0], value=shown[1]))


def find_sum(text: str, language: str) -> Sum | None:
    """The calculation that a text asks for, or None. Dates, ranges inside of a question and phone numbers are none."""
    if len(text) > 300 or _DATE.search(text):
        return None
    plain = _symbols(text)
    if share := _SHARE.search(plain):
        expression = f"{_value(share[1], language)} / 100 * {_value(share[2], language)}"
        return Sum(expression) if _only_asks_for_it(plain, share.span(), language) else None
    found = max(_EXPRESSION.finditer(plain), key=lambda each: len(each.group()), default=None)
    if found is None or not _only_asks_for_it(plain, found.span(), language):
        return None
    return Sum(_written(found.group().strip(), language))


def _symbols(text: str) -> str:
    plain = text.translate(_SYMBOLS)
    for spoken, symbol in _SPOKEN:
        plain = re.sub(rf"(?<=[\d)%])\s*\b{spoken}\b\s*(?=[\d(-])", f" {symbol} ", plain, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=\d)\s*\b(?:per ?cent|prozent)\b", "%", plain, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=\d)\s*\b(?:squared|quadrat)\b|(?<=\d)\s*²", " ** 2", plain, flags=re.IGNORECASE)
    return re.sub(r"(?<=\d)\s*[x]\s*(?=\d)", " * ", plain)


def _only_asks_for_it(plain: str, span: tuple[int, int], language: str) -> bool:
    rest = words_of(plain[: span[0]] + " " + plain[span[1] :])
    others = [each for each in rest if each.folded not in STOP[language] and each.folded not in _TRIGGERS]
    return not others


def _written(expression: str, language: str) -> str:
    if added := _ADDED_SHARE.match(expression):
        base, sign, share = _value(added[1], language), added[2], _value(added[3], language)
        return f"{base} * (1 {sign} {share} / 100)"
    numbers = re.sub(_NUMBER, lambda each: _value(each.group(), language), expression)
    shares = re.sub(r"([\d.]+)\s*%", r"(\1 / 100)", numbers)
    spaced = re.sub(r"\s*(\*\*|[-+*/])\s*", r" \1 ", shares)
    return re.sub(r"(^|\(| [-+*/]{1,2}) - (?=\d)", r"\1 -", re.sub(r"\s+", " ", spaced)).strip()


def _value(number: str, language: str) -> str:
    """12,5 and 1.250 depend on the language; two kinds of separators, or one kind repeated, tell by themselves."""
    kinds = [each for each in number if each in ".,"]
    if not kinds:
        return number
    decimal = "," if language == "de" else "."
    if len(set(kinds)) == 2:
        decimal = kinds[-1]
    elif len(kinds) > 1:
        decimal = ""
    elif kinds[0] != decimal and len(number.partition(kinds[0])[2]) != 3:
        decimal = kinds[0]
    return "".join("." if each == decimal else each for each in number if each.isdigit() or each == decimal)


def _as_written(text: str, language: str) -> str:
    return re.sub(r"(?<=\d)\.(?=\d)", ",", text) if language == "de" else text
