"""The person's last message as errands: what to look up, to pass on, to work out or to ask back."""

from dataclasses import replace

from .asking import Unclear, delegate_option
from .background import Choice, continues, documents_of, find_choice, find_result, is_more, subject_before
from .delegation import Delegation
from .errands import choose_errand, choose_owner, clear_owner, make_delegation, routes_of, wish_of
from .following import Following, asks_for_workflow
from .lookup import Lookup
from .parts import split_parts
from .phrases import enumerated, phrase
from .quoting import last_source
from .reading import Reading
from .refusals import one_line
from .remarks import Remark, find_remark
from .routing import choose_routes, find_mentions, unknown_mention
from .steps import Errand
from .talk import Talk
from .wish import make_wish
from .words import strong

MAX_TEXT = 6000


def plan_errands(talk: Talk) -> tuple[Errand, ...]:
    """What the last message asks for, in its order. The same talk always gives the same errands."""
    text = talk.now.asked.strip()[:MAX_TEXT]
    if result := find_result(talk):
        return (_handed_up(*result, talk),)
    if remark := find_remark(text, talk):
        return (remark,)
    if choice := find_choice(talk):
        return _chosen(choice, talk)
    if mentions := find_mentions(text, talk.offers.delegates):
        shared_out = len(mentions) > 1
        return tuple(
            make_delegation(wish_of(task or text, talk), (delegate,), talk=talk, shared_out=shared_out)
            for delegate, task in mentions
        )
    if talk.offers.delegates and (name := unknown_mention(text, talk.offers.delegates)):
        names = enumerated(talk.language, [f"`@{each.slug}`" for each in talk.offers.delegates])
        unknown = phrase(talk.language, "unknown_mention", name=name)
        return (Remark(f"{unknown} {phrase(talk.language, 'who_there_is', names=names)}"),)
    if asks_for_workflow(text, talk):
        return (Following(text, choose_errand(text, talk, alone=True)),)
    if is_more(text) or _repeats(text, talk):
        return (_more(talk),)
    single = bool(make_wish(text, talk.language).background)
    parts = (text,) if single else split_parts(text, talk.language, lambda part: clear_owner(part, talk))
    return _together(parts, text, talk)


def _together(parts: tuple[str, ...], text: str, talk: Talk) -> tuple[Errand, ...]:
    errands = tuple(choose_errand(part, talk, alone=len(parts) == 1) for part in parts)
    owners = {each.candidates[0].slug for each in errands if isinstance(each, Delegation)}
    if len(parts) > 1 and len(owners) == 1 and all(isinstance(each, Delegation) for each in errands):
        return (choose_errand(text, talk, alone=True),)
    return errands


def _chosen(choice: Choice, talk: Talk) -> tuple[Errand, ...]:
    # What was ticked narrows the request down; what was only typed is the new request, seen in the light of the old one.
    own, other = (choice.request, choice.typed) if choice.options else (choice.typed, choice.request)
    wish = make_wish(own or other, talk.language, other if own else "")
    wish = replace(wish, settled=True, listing=True)
    delegates = tuple(each for each in talk.offers.delegates if delegate_option(each) in choice.options)
    if delegates and not strong(wish.searched):
        names = enumerated(talk.language, [f"**{each.name}**" for each in delegates])
        return (Remark(phrase(talk.language, "name_a_topic_for", names=names)),)
    if delegates:
        shared_out = len(delegates) > 1
        return tuple(make_delegation(wish, (each,), talk=talk, shared_out=shared_out) for each in delegates)
    if documents := documents_of(choice, talk):
        return (Lookup(replace(wish, documents=documents), may_ask=False),)
    if not strong(wish.searched):
        return (Unclear(),)
    return (choose_owner(wish, talk, alone=False),)


def _handed_up(name: str, question: str, text: str, talk: Talk) -> Errand:
    key = "new_result_on" if question else "new_result"
    return Remark(f"{phrase(talk.language, key, name=name, question=one_line(question, 120))}\n\n{text}")


def _more(talk: Talk) -> Errand:
    for exchange in reversed(talk.earlier):
        source = last_source(exchange.reply)
        if source and "read_document" in talk.offers:
            return Reading(source[0], mode="more", start=source[1] + 1)
    background = subject_before(talk, len(talk.earlier))
    routes = choose_routes(routes_of(make_wish(background, talk.language), talk)) if background else ()
    if routes:
        wish = make_wish(talk.now.asked, talk.language, background)
        return make_delegation(wish, (routes[0].delegate,), talk=talk)
    return Remark(phrase(talk.language, "no_more")) if background else Unclear()


def _repeats(text: str, talk: Talk) -> bool:
    """Whether a message has no words of its own and asks for nothing new about the question before it."""
    wish = make_wish(text, talk.language)
    return bool(talk.earlier) and not wish.words and not wish.numeric and continues(text, talk.language)
