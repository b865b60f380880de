"""Which of the two languages a person writes in."""

from collections.abc import Iterable

from .kindred import GROUPS
from .stopwords import MARKS, WEAK
from .words import fold, words_of

_VOCABULARY = {
    language: frozenset(fold(word) for group in GROUPS for word in group[half]) | (WEAK[language] - WEAK[other])
    for half, (language, other) in enumerate((("en", "de"), ("de", "en")))
}


def detect_language(texts: Iterable[str]) -> str:
    """`en` or `de`: the first of the texts that tells; English if none does."""
    for text in texts:
        scores = {language: _score(text, language) for language in ("en", "de")}
        if scores["en"] != scores["de"]:
            return max(scores, key=lambda each: scores[each])
    return "en"


def _score(text: str, language: str) -> float:
    folded = [word.folded for word in words_of(text)]
    score: float = sum(word in MARKS[language] for word in folded)
    score += 0.5 * sum(word in _VOCABULARY[language] for word in folded)
    return score + (0.5 * any(each in "äöüßÄÖÜ" for each in text) if language == "de" else 0)
