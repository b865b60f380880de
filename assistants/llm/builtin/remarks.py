"""Small talk, and questions about the engine itself: answered at once, without any tool."""

import re
from dataclasses import dataclass

from .phrases import enumerated, phrase
from .steps import Answer, Step
from .stopwords import split_words
from .talk import Talk
from .words import content_words, strong

_TELLABLE = ("search_documents", "read_document", "calculate", "current_time", "ask_clarifying_question", "spawn_agent")
_POLITE = (
    (
        "greeting",
        re.compile(
            r"^\W*(hi|hello|hey|hallo|moin|servus|grüezi|grüß|greetings|good (morning|afternoon|evening|day)|"
            r"gute[nr]? (morgen|tag|abend))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "thanks",
        re.compile(r"^\W*(thanks|thank you|thx|cheers|danke\w*|vielen dank|merci|great|perfect|super|prima|toll|cool)\b", re.I),
    ),
    ("bye", re.compile(r"^\W*(bye|goodbye|ciao|tschüss?|auf wiedersehen|see you)\b", re.IGNORECASE)),
)
_POLITE_FILLERS = frozenset(
    split_words(
        "there all team dir dich euch zusammen gott later sehr ok okay great perfect lot much good work job you very super"
    )
)
_HELP = re.compile(
    r"^\W*(help|help me|hilfe|\?|/help|hilf mir|anleitung)\W*$|what (can|do|could) you (do|offer|know)\b|how (can|"
    r"could) you help|"
    r"how do(es)? (this|it|i use this) work|how (do|can) i use (this|you)|what are your (skills|abilities|tools)|"
    r"was (kannst|kann) (du|ich hier|man hier|ich dich)|wie (kannst du|können sie) (mir )?helfen|was können sie\b|"
    r"wie funktioniert (das|dies|es|du)\b|wie benutze ich",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\b(who|what) are you\b|\bwhich (language )?model\b.*\b(you|this|use)|\bare you (an? )?(ai|bot|llm|human|chatgpt|"
    r"gpt|language model)|"
    r"\b(wer|was) (bist du|sind sie)\b|\bbist du (eine? )?(ki|ai|bot|mensch|chatgpt|sprachmodell)|\bwelches (sprach)?modell\b|"
    r"\b(connect|use|add|set up) (an?|the) (language model|llm|better model)|(sprachmodell|llm) (verbinden|anschließen|"
    r"einrichten)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Remark:
    """Something to say as it is."""

    text: str

    def advance(self, talk: Talk) -> Step:
        return Answer(self.text)


def find_remark(text: str, talk: Talk) -> Remark | None:
    """The answer to a greeting, thanks, a call for help or a question about the engine; None for anything else."""
    if len(text) > 200:
        return None
    language = talk.language
    if _is_all(_HELP, text, language):
        return Remark(render_help(talk))
    if _is_all(_WHO, text, language):
        return Remark(phrase(language, "honest"))
    for key, pattern in _POLITE:
        found = pattern.search(text)
        rest = content_words(text[found.end() :], language) if found else ()
        if found and all(word.folded in _POLITE_FILLERS for word in rest):
            return Remark(phrase(language, key, can=_ability(talk)))
    return None if text.strip() else Remark(phrase(language, "greeting", can=_ability(talk)))


def render_help(talk: Talk) -> str:
    """What can be done here, from the tools on offer and the delegates' own descriptions, and what can't."""
    language, offers = talk.language, talk.offers
    items = [f"- {phrase(language, f'help_{name}')}" for name in _TELLABLE if name in offers]
    if offers.delegates:
        items.append(f"- {phrase(language, 'help_delegates')}")
        items += [f"  - **{each.name}** (`@{each.slug}`): {each.description}".rstrip(": ") for each in offers.delegates]
    head = [phrase(language, "help"), "\n".join(items)] if items else [phrase(language, "help_nothing")]
    return "\n\n".join([*head, phrase(language, "honest")])


def _is_all(pattern: re.Pattern[str], text: str, language: str) -> bool:
    """Whether the pattern says it all: “what can you do about refunds” is a question about refunds."""
    found = pattern.search(text)
    return found is not None and not strong(content_words(text[: found.start()] + text[found.end() :], language))


def _ability(talk: Talk) -> str:
    names = enumerated(talk.language, [f"**{each.name}**" for each in talk.offers.delegates])
    if names:
        return phrase(talk.language, "can_both" if "search_documents" in talk.offers else "can_delegate", names=names)
    return phrase(talk.language, "can_search" if "search_documents" in talk.offers else "can_little")
