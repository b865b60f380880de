"""The kind of answer that a question asks for besides figures: what to do, who, or why; and what gives such an answer."""

import re

REMEDY, PERSON, REASON = "remedy", "person", "reason"

_WANTED = (
    (
        REMEDY,
        re.compile(
            r"\bwhat (?:(?:do|does|should|can|must|could) (?:i|we|you|one|they|someone|(?:a|the) \w+) do|happens|to do)\b|"
            r"\bhow (?:do|can|should) (?:i|we|you) (?:fix|report|handle|claim|repair|mend)\b|"
            r"\bwas (?:tun|mache?n? (?:ich|wir|man)|(?:muss|kann|soll) (?:ich|man) (?:tun|machen)|passiert|ist zu tun)\b",
            re.IGNORECASE,
        ),
    ),
    (PERSON, re.compile(r"\b(?:who|whom|whose|wer|wem|wen|an wen|bei wem)\b", re.IGNORECASE)),
    (REASON, re.compile(r"\b(?:why|what (?:is|was) the (?:reason|cause)|warum|wieso|weshalb|woran)\b", re.IGNORECASE)),
)
_GIVEN = {
    REMEDY: re.compile(
        r"\b(?:send|contact|report|call|write|tell|ask|claim|repair(?:s|ed)?|replace(?:s|d|ment)?|exchange[ds]?|refund(?:s|ed)?|"
        r"mend(?:s|ed)?|photo|warranty|covered|must|please|"
        r"schick\w*|send\w*|meld\w*|wend\w*|ruf\w*|frag\w*|reparier\w*|reparatur\w*|ersetz\w*|ersatz|tausch\w*|umtausch\w*|"
        r"erstatt\w*|garantie|foto|muss|müssen|bitte)\b",
        re.IGNORECASE,
    ),
    PERSON: re.compile(
        r"\S@\S|\(\d{2,5}\) ?\d|\b(?:team|lead|leads?|manager|head|desk|office|department|owner|director|staff|partner|"
        r"leitung|leiter\w*|teamleitung|abteilung|büro|chefin?|vorstand|zuständig\w*|geschäftsführ\w*)\b|"
        r"\b(?:by|von|durch) [A-ZÄÖÜ]\w+",
    ),
    REASON: re.compile(
        r"\b(?:because|due to|reasons?|cause[ds]?|therefore|so that|since|that is why|"
        r"weil|denn|wegen|grund|gründe|ursachen?|deshalb|daher|damit)\b",
        re.IGNORECASE,
    ),
}


def wanted_kind(text: str) -> str:
    """The kind of answer that a question asks for; empty if it is none of these."""
    return next((kind for kind, pattern in _WANTED if pattern.search(text)), "")


def gives_kind(kind: str, text: str) -> bool:
    """Whether a text looks like an answer of that kind."""
    return bool(kind) and bool(_GIVEN[kind].search(text))
