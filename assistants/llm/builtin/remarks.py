"""Small talk, and questions about the engine itself: answered at once, without any tool."""

import re
from dataclasses import dataclass

from .phrases import enumerated, phrase
from .steps import Answer, Step
from .stopwords import STOP
from .talk import Talk
from .words import words_of

_TELLABLE = ("search_documents", "read_document", "calculate", "current_time", "ask_clarifying_question", "spawn_agent")
_GREETINGS = frozenset(
    """hi hello hey hallo moin servus gruss gruezi tag morgen abend guten gute morning afternoon evening good day there greetings
    welcome gott dich euch zusammen team""".split()
)
_THANKS = frozenset("thanks thank thx cheers danke dankeschon merci great perfect super prima toll cool nice ok okay good gut".split())
_BYES = frozenset("bye goodbye ciao tschuss tschuess wiedersehen auf see later".split())
_HELP = re.compile(
    r"^\W*(help|help me|hilfe|\?|/help|hilf mir|anleitung)\W*$|what (can|do|could) you (do|offer|know)\b|how (can|could) you help|"
    r"how do(es)? (this|it|i use this) work|how (do|can) i use (this|you)|what are your (skills|abilities|tools)|"
    r"was (kannst|kann) (du|ich hier|man hier|ich dich)|wie (kannst du|können sie) (mir )?helfen|was können sie\b|"
    r"wie funktioniert (das|dies|es|du)\b|wie benutze ich",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\b(who|what) are you\b|\bwhich (language )?model\b.*\b(you|this|use)|\bare you (an? )?(ai|bot|llm|human|chatgpt|gpt|language model)|"
    r"\b(wer|was) (bist du|sind sie)\b|\bbist du (eine? )?(ki|ai|bot|mensch|chatgpt|sprachmodell)|\bwelches (sprach)?modell\b|"
    r"\b(connect|use|add|set up) (an?|the) (language model|llm|better model)|(sprachmodell|llm) (verbinden|anschließen|einrichten)",
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
    if _HELP.search(text):
        return Remark(render_help(talk))
    if _WHO.search(text):
        return Remark(phrase(language, "honest"))
    folded = [word.folded for word in words_of(text) if word.folded not in STOP[language] - _GREETINGS - _THANKS - _BYES]
    for known, sentence in (
        (_GREETINGS, lambda: phrase(language, "greeting", can=_ability(talk))),
        (_THANKS, lambda: phrase(language, "thanks")),
        (_BYES, lambda: phrase(language, "bye")),
    ):
        if folded and all(word in known for word in folded):
            return Remark(sentence())
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


def _ability(talk: Talk) -> str:
    names = enumerated(talk.language, [f"**{each.name}**" for each in talk.offers.delegates])
    if names:
        return phrase(talk.language, "can_both" if "search_documents" in talk.offers else "can_delegate", names=names)
    return phrase(talk.language, "can_search" if "search_documents" in talk.offers else "can_little")
