"""Questions for the time and the date, here or in a city."""

import re
from dataclasses import dataclass
from datetime import datetime

from .phrases import MONTHS, WEEKDAYS, phrase
from .refusals import one_line, reason_of
from .steps import Answer, Call, Need, Step
from .stopwords import split_words
from .talk import Result, Talk
from .words import content_words, fold

_ASKED = {
    "en": re.compile(
        r"\b(what('s| is)? (the )?(current )?(time|date|day)\b( is (it|today))?|what (day|date) is|current (time|date)|"
        r"time is it|today'?s date|which day is)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(wie ?viel uhr|wie spät|uhrzeit|welche(r|s|n)? (tag|datum|wochentag)|heutige[sn]? datum|der wievielte)",
        re.IGNORECASE,
    ),
}
_FILLERS = frozenset(
    split_words("time date day today now current clock uhr uhrzeit tag datum heute heutige wochentag spat jetzt wievielte")
)
_CITIES = """
Europe/Berlin berlin germany deutschland munich munchen hamburg koln cologne frankfurt
Europe/Vienna vienna wien austria osterreich
Europe/Zurich zurich switzerland schweiz bern basel
Europe/London london england uk britain grossbritannien
Europe/Paris paris france frankreich
Europe/Madrid madrid spain spanien barcelona
Europe/Rome rome rom italy italien milan mailand
Europe/Amsterdam amsterdam netherlands niederlande
Europe/Brussels brussels brussel belgium belgien
Europe/Lisbon lisbon lissabon portugal
Europe/Warsaw warsaw warschau poland polen
Europe/Prague prague prag
Europe/Budapest budapest
Europe/Athens athens athen greece griechenland
Europe/Stockholm stockholm sweden schweden
Europe/Oslo oslo norway norwegen
Europe/Copenhagen copenhagen kopenhagen denmark danemark
Europe/Helsinki helsinki finland finnland
Europe/Kyiv kyiv kiev kiew ukraine
Europe/Moscow moscow moskau
Europe/Istanbul istanbul turkey turkei
Africa/Cairo cairo kairo egypt agypten
Africa/Johannesburg johannesburg
Africa/Lagos lagos nigeria
Africa/Nairobi nairobi kenya kenia
Asia/Dubai dubai
Asia/Kolkata delhi mumbai india indien bangalore kolkata
Asia/Singapore singapore singapur
Asia/Hong_Kong hongkong
Asia/Shanghai beijing peking shanghai china
Asia/Seoul seoul korea
Asia/Tokyo tokyo tokio japan
Asia/Jerusalem jerusalem israel
Australia/Sydney sydney
Pacific/Auckland auckland
America/New_York york washington boston
America/Chicago chicago
America/Denver denver
America/Los_Angeles angeles francisco seattle california kalifornien
America/Toronto toronto
America/Vancouver vancouver
America/Mexico_City mexico mexiko
America/Sao_Paulo paulo brazil brasilien
America/Argentina/Buenos_Aires aires argentina argentinien
Etc/UTC utc gmt
"""
_ZONES = {city: line.split()[0] for line in _CITIES.strip().splitlines() for city in line.split()[1:]}


@dataclass(frozen=True)
class Clock:
    """One look at the clock; `zone` is an IANA name or empty."""

    zone: str = ""

    def advance(self, talk: Talk) -> Step:
        arguments = talk.offers.fit("current_time", **({"zone": self.zone} if self.zone else {}))
        if arguments is None:
            return Answer(phrase(talk.language, "no_clock"))
        result = talk.result_of("current_time", arguments)
        if result is None:
            return Need((Call("current_time", arguments),))
        return Answer(_told(result, talk.language))


def find_clock(text: str, language: str) -> Clock | None:
    """The question for time or date in a text, or None when it asks for more than that."""
    if not _ASKED[language].search(text):
        return None
    folded = [word.folded for word in content_words(text, language) if word.folded not in _FILLERS]
    places = [_ZONES[each] for each in folded if each in _ZONES]
    unknown = [
        each for each in folded if each not in _ZONES and each not in {"new", "san", "los", "sao", "buenos", "hong", "kong"}
    ]
    if "hong" in folded:
        places = ["Asia/Hong_Kong"]
    return None if unknown else Clock(places[0] if places else "")


def _told(result: Result, language: str) -> str:
    if result.refusal or not (result.data or result.text.strip()):
        return phrase(language, "refused", reason=reason_of(result, language))
    texts = [str(each) for each in result.data.values()] or [result.text.strip()]
    moment = next((moment for each in texts if (moment := _moment(each))), None)
    if moment is None:
        return phrase(language, "time_plain", text=one_line(result.text))
    zone = str(result.data.get("zone") or result.data.get("timezone") or moment.tzname() or "")
    return phrase(
        language,
        "time",
        time=f"{moment:%H:%M}",
        weekday=WEEKDAYS[language][moment.weekday()],
        day=moment.day,
        month=MONTHS[language][moment.month - 1],
        year=moment.year,
        zone=zone,
    )


def _moment(text: str) -> datetime | None:
    if not re.match(r"\d{4}-\d{2}-\d{2}.\d{2}:\d{2}", fold(text)):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
