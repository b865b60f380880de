"""Which errand a part of a request is: a sum, the clock, a document, somebody else's field, or a search."""

import re
from dataclasses import replace

from .arithmetic import find_sum
from .asking import Unable, Unclear, Undecided
from .background import continues, related_facts, subject_before
from .delegation import Delegation, Helper
from .lookup import Lookup
from .offers import Delegate
from .opening import FILE_NAME
from .reading import Listing, Reading
from .routing import Route, choose_routes, generalists, rank_routes
from .steps import Errand
from .stopwords import split_words
from .tabling import Tabling, wants_table
from .talk import Talk
from .timekeeping import find_clock
from .wish import Wish, make_wish
from .words import content_words, strong

VAGUE = 0.5
"""The weight below which a word alone is no subject."""
_WRITING = re.compile(
    r"^\W*(?:please |can you |could you |kannst du |bitte |können sie )*(write|draft|compose|translate|summari[sz]e|"
    r"rewrite|paraphrase|"
    r"rephrase|generate|schreib\w*|verfass\w*|übersetz\w*|formulier\w*|erstell\w*|generier\w*|fass\w* .{0,80}zusammen)\b",
    re.IGNORECASE,
)
_WRITTEN = frozenset(
    split_words(
        """
        poem letter email mail post article blog tweet speech story essay english german french spanish italian summary
        reply gedicht brief beitrag artikel rede geschichte aufsatz englisch englische deutsch deutsche franzosisch
        franzosische spanisch spanische italienisch antwort nachricht message short kurzen kurze kurz
        """
    )
)
_OUTLINE = re.compile(
    r"\b(what('s| is| stands| does)? .*\b(in|about|inside|say|contain)|summar\w*|outline|overview|structure|contents?|"
    r"was steht in|"
    r"worum geht|gliederung|überblick|aufbau|inhalt\w*|zusammen)\b",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"\b(what|which) (documents|files)\b.*\b(there|have|available|exist|know|see)\b|\blist (all |the |your |"
    r"my )*(documents|files)\b|"
    r"\bwelche (dokumente|dateien)\b.*\b(gibt|hast|haben|sind|kennst)\b|\b(liste|zeig\w*) (mir )?(alle )?(dokumente|dateien)\b",
    re.IGNORECASE,
)
_HELPER = re.compile(
    r"\b(spawn|sub-?agent|helper agent|separate agent|unter-?agent\w*|teil-?agent\w*|eigenen? agent\w*)\b", re.IGNORECASE
)
_HELPER_ORDER = re.compile(
    r"^.*?\b(?:sub-?agent|agent|unter-?agent\w*|teil-?agent\w*)\b,?\s*(?:that|which|who|to|for|der|die|das|für|um)?\s*",
    re.IGNORECASE,
)


def choose_errand(text: str, talk: Talk, *, alone: bool) -> Errand:
    """The errand for one part of a message; only a part that stands `alone` may end in a question back (J-26)."""
    if found := _settled_by_form(text, talk):
        return found
    wish = wish_of(text, talk)
    if not wish.searched:
        return Unclear()
    if wants_table(text, talk):
        return Tabling(wish, text)
    writing = bool(_WRITING.search(text))
    if writing:
        wish = replace(wish, words=tuple(word for word in wish.words if word.folded not in _WRITTEN))
    names = tuple(dict.fromkeys(FILE_NAME.findall(text)))
    if names and ("search_documents" in talk.offers or "read_document" in talk.offers):
        return _about_files(wish, names, text, talk)
    if not writing and all(word.weight < VAGUE for word in wish.searched):
        return Unclear()
    errand = choose_owner(wish, talk, alone=alone)
    if not writing or isinstance(errand, (Delegation, Undecided)):
        return errand
    if isinstance(errand, Lookup):
        errand = replace(errand, may_ask=False)
    outlined = tuple(word for word in wish.words if word.weight >= VAGUE) if _OUTLINE.search(text) else ()
    return Unable(errand if strong(wish.searched) and isinstance(errand, Lookup) else None, outlined)


def _settled_by_form(text: str, talk: Talk) -> Errand | None:
    """What a text asks for by its form alone, whatever it is about."""
    if found := find_sum(text, talk.language) or find_clock(text, talk.language):
        return found
    if _LISTING.search(text):
        return Listing()
    if _HELPER.search(text) and "spawn_agent" in talk.offers:
        return Helper(make_wish(_HELPER_ORDER.sub("", text).strip() or text, talk.language))
    return None


def _about_files(wish: Wish, names: tuple[str, ...], text: str, talk: Talk) -> Errand:
    left = strong(content_words(FILE_NAME.sub(" ", text), talk.language))
    outline = bool(_OUTLINE.search(text))
    if left and not (outline and _WRITING.search(text)) and "search_documents" in talk.offers:
        about = make_wish(FILE_NAME.sub(" ", text), talk.language)
        return Lookup(replace(about, text=wish.text, documents=names, settled=True), may_ask=False)
    return Reading(names[0], mode="outline" if outline else "open")


def choose_owner(wish: Wish, talk: Talk, *, alone: bool) -> Errand:
    """Who looks the wish up: another assistant whose field it clearly is, or the engine itself."""
    if talk.is_child and "search_documents" in talk.offers:
        # It was chosen for this task: sending it on before looking would play ping-pong.
        return Lookup(wish, may_ask=alone and "ask_clarifying_question" in talk.offers)
    if wish.background and (last := _last_delegate(talk)):
        own = choose_routes(rank_routes(wish.words, talk.offers.delegates, talk.language))
        return make_delegation(wish, (own[0].delegate if len(own) == 1 else last,), talk=talk, shared_out=not alone)
    chosen = choose_routes(routes_of(wish, talk))
    if len(chosen) == 1 or (chosen and not alone):
        return make_delegation(wish, _in_order(chosen[:1], wish, talk), talk=talk, shared_out=not alone)
    if len(chosen) > 1:
        if "ask_clarifying_question" in talk.offers:
            return Undecided(tuple(each.delegate for each in chosen))
        return make_delegation(wish, tuple(each.delegate for each in chosen), talk=talk)
    if "search_documents" in talk.offers:
        return Lookup(wish, may_ask=alone and "ask_clarifying_question" in talk.offers and not _was_asked_back(talk))
    return _without_search(wish, talk)


def _last_delegate(talk: Talk) -> Delegate | None:
    """Who answered the question that is being continued, if only one did."""
    invoked = [each for each in talk.earlier[-1].results if each.tool == "invoke_assistant"] if talk.earlier else []
    slugs = {each.arguments.get("assistant") for each in invoked}
    return next((each for each in talk.offers.delegates if slugs == {each.slug}), None)


def _without_search(wish: Wish, talk: Talk) -> Errand:
    able = generalists(talk.offers.delegates)
    if able or len(talk.offers.delegates) == 1:
        return make_delegation(wish, able or talk.offers.delegates, talk=talk)
    if len(talk.offers.delegates) > 1 and not _was_asked_back(talk):
        return Undecided(talk.offers.delegates)
    if talk.offers.delegates:
        return make_delegation(wish, talk.offers.delegates, talk=talk)
    return Lookup(wish, may_ask=False)


def wish_of(text: str, talk: Talk) -> Wish:
    """The wish of a text, as a continuation of the question before it if it can't be understood alone."""
    if talk.earlier and continues(text, talk.language) and (before := subject_before(talk, len(talk.earlier))):
        return make_wish(text, talk.language, before)
    return make_wish(text, talk.language)


def routes_of(wish: Wish, talk: Talk) -> list[Route]:
    """By its own words first: “and for hotels?” may belong to somebody else than the question before it."""
    own = rank_routes(wish.words, talk.offers.delegates, talk.language)
    return own if len(choose_routes(own)) == 1 else rank_routes(wish.searched, talk.offers.delegates, talk.language)


def clear_owner(part: str, talk: Talk) -> str:
    """The slug of the one assistant that a stretch of a message clearly belongs to, `self` for a sum, or empty."""
    if find_sum(part, talk.language) or find_clock(part, talk.language):
        return "self"
    routes = choose_routes(routes_of(make_wish(part, talk.language), talk))
    return routes[0].delegate.slug if len(routes) == 1 else ""


def _in_order(chosen: tuple[Route, ...], wish: Wish, talk: Talk) -> tuple[Delegate, ...]:
    first = tuple(each.delegate for each in chosen)
    return first + tuple(each.delegate for each in routes_of(wish, talk) if each.delegate not in first and each.score >= 0.3)


def make_delegation(wish: Wish, candidates: tuple[Delegate, ...], *, talk: Talk, shared_out: bool = False) -> Delegation:
    """The wish for the first of the candidates, with what the person said before about it (T-06)."""
    facts = () if wish.background else related_facts(talk, [wish.text])
    return Delegation(wish, candidates, facts=tuple(each for each in facts if each != wish.text), shared_out=shared_out)


def _was_asked_back(talk: Talk) -> bool:
    last = talk.earlier[-1].results[-1:] if talk.earlier else ()
    return any(each.tool == "ask_clarifying_question" for each in last)
