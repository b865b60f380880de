"""What a message takes over from the talk before it: a choice that was asked for, or the question that it continues."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .passages import passages_of
from .talk import Exchange, Talk
from .wish import MAX_WORDS
from .words import best_likeness, content_words, strong, words_of

ASKING = "ask_clarifying_question"
_ANSWER = re.compile(r"\A[^\n]{0,40}[\"“„«][^\n]*[\"”“»]\s*:?[ \t]*\n")
_RESULT = re.compile(r"\ANew result from the sub-chat with ([^\n]{1,120}?) \(sub_[^\s)]+\)(?: on “([^\n]*)”)?:\n\n([\s\S]+)\Z")
_CONTINUING = re.compile(
    r"^\W*(and|what about|how about|and what about|also|plus|und|was ist mit|was ist bei|wie ist es|wie sieht es|wie steht es|"
    r"auch|oder|or|for|für|in|im|bei|ab|since|seit|from|until|bis|von)\b",
    re.IGNORECASE,
)
_POINTING = {
    "en": re.compile(r"\b(it|they|them|that|those|these|this|its|their|same)\b", re.IGNORECASE),
    "de": re.compile(
        r"\b(dafür|davon|dazu|darüber|damit|daran|dabei|darin|dort|dessen|deren|denen|derselbe|dasselbe)\b|"
        r"\b(das|es|dies|diese[rsmn]?|die|er|sie|ihn|ihm)\W*$",
        re.IGNORECASE,
    ),
}
_MORE = re.compile(
    r"^\W*(more|tell me more|go on|continue|read on|next|more (details|please|about (it|that|this))|and then|what else|"
    r"show (me )?more|"
    r"mehr|weiter|mehr dazu|mehr davon|erzähl mehr|lies weiter|zeig mehr|mehr (details|bitte|infos?)|und weiter|was noch|"
    r"noch mehr|"
    r"details|please continue|bitte weiter)\W*$",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(all|both|every one|each|everything|alle|beide|alles|jede[nsr]?)\b", re.IGNORECASE)
_ORDINALS = (
    ("first", "1", "erste", "ersten", "1st"),
    ("second", "2", "zweite", "zweiten", "2nd"),
    ("third", "3", "dritte", "dritten", "3rd"),
    ("fourth", "4", "vierte", "vierten", "4th"),
    ("fifth", "5", "funfte", "funften", "5th"),
    ("sixth", "6", "sechste", "sechsten", "6th"),
)


@dataclass(frozen=True)
class Choice:
    """The answer to a question that was asked back: the request it was about, the chosen options, words of one's own."""

    request: str
    options: tuple[str, ...]
    typed: str = ""


def find_choice(talk: Talk) -> Choice | None:
    """The choice that the last message makes among the options of the question before it; None if it makes none."""
    if not talk.earlier or not (options := _options(talk.earlier[-1])):
        return None
    text, before = talk.now.asked, talk.earlier[-1].asked
    has_subject = strong(content_words(before, talk.language)) or continues(before, talk.language)
    request = subject_before(talk, len(talk.earlier)) if has_subject else ""
    if _RESULT.match(text):
        return None
    if given := _ANSWER.match(text):
        lines = [line.strip() for line in text[given.end() :].splitlines() if line.strip()]
        ticked = [line[2:].strip() for line in lines if line.startswith("- ")]
        chosen = tuple(each for each in options if each in ticked)
        typed = "\n".join(line for line in lines if not line.startswith("- ") or line[2:].strip() not in options)
        return Choice(request, chosen or _named(typed, options, talk.language), typed)
    chosen = _named(text, options, talk.language)
    only_chooses = _only_chooses(text, chosen, talk.language)
    if chosen and (only_chooses or ("?" not in text and len(words_of(text)) <= 8)):
        return Choice(request, chosen, "" if only_chooses else text)
    # A full question of its own drops the one that was asked back; a few words narrow it down.
    return Choice(request, (), text) if len(strong(content_words(text, talk.language))) <= 2 and "?" not in text else None


def find_result(talk: Talk) -> tuple[str, str, str] | None:
    """(name, question, text) if the message is a sub-chat's new result that a person handed up; what was asked there may be
    empty."""
    found = _RESULT.match(talk.now.asked)
    return (found[1], _own_words(found[2] or ""), found[3].strip()) if found else None


def is_more(text: str) -> bool:
    """Whether a message only asks to go on."""
    return bool(_MORE.match(text.strip()))


def points_back(text: str, language: str) -> bool:
    """Whether a short text speaks of something by a pronoun alone: “how fast do they deliver?”."""
    few = len(strong(content_words(text, language))) <= 2 and len(words_of(text)) <= 9
    return few and bool(_POINTING[language].search(text))


def continues(text: str, language: str) -> bool:
    """Whether a message can't be understood without the question before it."""
    words = content_words(text, language)
    subject = strong(words)
    if _CONTINUING.match(text) and len(subject) <= 3 and len(words_of(text)) <= 8:
        return True
    if points_back(text, language):
        return True
    only_number = bool(subject) and all(each.isdigit() for word in subject for each in word.text) and len(subject) == 1
    return only_number or (not words and "?" in text)


def subject_before(talk: Talk, place: int) -> str:
    """The question that the exchange before `place` was about, followed back through choices and continuations."""
    parts: list[str] = []
    for exchange in reversed(talk.earlier[:place][-6:]):
        text = _own_words(exchange.asked)
        if _RESULT.match(exchange.asked) or not strong(content_words(text, talk.language)):
            continue
        parts.append(text)
        if not continues(text, talk.language) and not _is_answer(exchange.asked):
            break
    return " / ".join(reversed(parts[:3])) if len(parts) < 3 else f"{parts[-1]} / {parts[0]}"


def related_facts(talk: Talk, words: Sequence[str]) -> tuple[str, ...]:
    """What the person said before that shares a word with the request, newest last, at most three lines."""
    wanted = content_words(" ".join(words), talk.language)[:MAX_WORDS]
    found = []
    for exchange in talk.earlier[-8:]:
        said = words_of(exchange.asked)
        if (
            len(exchange.asked) <= 400
            and not _is_answer(exchange.asked)
            and any(best_likeness(word, said) >= 1 for word in wanted)
        ):
            found.append(" ".join(exchange.asked.split()))
    return tuple(dict.fromkeys(found))[-3:]


def documents_of(choice: Choice, talk: Talk) -> tuple[str, ...]:
    """The documents that the chosen options name, as far as the search before them brought them."""
    known = dict.fromkeys(each.document for exchange in talk.earlier[-3:] for each in passages_of(exchange.results))
    return tuple(each for each in known if any(each == option or f"({each})" in option for option in choice.options))


def _options(exchange: Exchange) -> tuple[str, ...]:
    last = exchange.results[-1] if exchange.results else None
    if last is None or last.tool != ASKING or last.refusal:
        return ()
    return tuple(str(each) for each in last.arguments.get("options", ()))


def _named(text: str, options: Sequence[str], language: str) -> tuple[str, ...]:
    folded = [word.folded for word in words_of(text)]
    if _ALL.search(text) and len(folded) <= 5:
        return tuple(options)
    placed = tuple(
        option for option, names in zip(options, _ORDINALS, strict=False) if len(folded) <= 4 and set(names) & set(folded)
    )
    if placed:
        return placed
    words = strong(content_words(text, language))
    scores = [sum(best_likeness(word, words_of(option)) for word in words) for option in options]
    best = max(scores, default=0)
    return tuple(option for option, score in zip(options, scores, strict=True) if best >= 0.7 and score == best)


def _only_chooses(text: str, chosen: Sequence[str], language: str) -> bool:
    ordinals = {each for names in _ORDINALS for each in names}
    said = words_of(" ".join(chosen))
    words = strong(content_words(text, language))
    return all(word.folded in ordinals or best_likeness(word, said) >= 0.7 or _ALL.match(word.text) for word in words)


def _is_answer(text: str) -> bool:
    return bool(_ANSWER.match(text))


def _own_words(text: str) -> str:
    given = _ANSWER.match(text)
    if not given:
        return " ".join(re.sub(r"(?<![\w@.])@[\w-]+[,:]?\s*", "", text).split())
    lines = (line.strip().removeprefix("- ") for line in text[given.end() :].splitlines())
    return ", ".join(line for line in lines if line)
