"""Draws the parts of a conversation's page: the same fragments on the first load, live, and when polling."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, prefetch_related_objects
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from assistants import access, precedence
from assistants.conversations.overview import list_conversations, waiting_below
from assistants.conversations.present import present_of
from assistants.models import Message, Thread, ToolCall, Turn, TurnEvent
from assistants.models.definition import Definition, definition_in
from assistants.models.prepared import Prepared
from assistants.turns import live
from assistants.turns.backlog import before
from assistants.turns.outline import Outline, Place, Siblings, Window, end_of_branch, newest

from .bodies import draw_bodies
from .cards import APPROVAL, calls_at_work, card_for
from .citations import Citations, citations_of
from .news import CALLS_OF, MESSAGES, News, ends_of_turns, news_of
from .panel import sections
from .readers import Cursor
from .stream import MarkdownStream
from .turn_notes import draw_notes


@dataclass(frozen=True)
class Viewpoint:
    """Whose eyes see the thread: what is drawn depends on nothing else but the database.

    `csrf_token` is known on a page's first load, where forms must work without a script.
    """

    thread: Thread
    actor: access.Actor
    can_write: bool
    definition: Definition
    csrf_token: str = ""

    @property
    def is_visitor(self) -> bool:
        """Whether it is somebody from outside, who is shown answers and what they rest on, and nothing of the works."""
        return isinstance(self.actor, access.Visitor)


@dataclass(frozen=True)
class Told:
    """What other apps say about a message: where the numbers in it lead, and what is drawn in its place, if anything."""

    citations: Citations
    body: str


def viewpoint(thread: Thread, actor: access.Actor, *, csrf_token: str = "", rights: access.Rights = access.AFRESH) -> Viewpoint:
    """How the actor sees a thread that was read, with its assistant, for the same request or drawing."""
    return Viewpoint(thread, actor, access.may(actor, "write", thread, rights), definition_in(thread), csrf_token)


def view_of(actor: access.Actor, chat_id: str, *, csrf_token: str = "") -> Viewpoint:
    """The conversation as the actor sees it now; raises Http404 where they may not."""
    rights = access.RightsAtOnce()
    return viewpoint(access.get_thread(actor, chat_id, rights=rights), actor, csrf_token=csrf_token, rights=rights)


def draw_news(events: Sequence[TurnEvent], view: Viewpoint, *, but: Collection[str] = ()) -> list[dict[str, Any]]:
    """Events as frames {"n": number, "html": fragments}, read after them, so that each shows how things stand now.

    What a later one of them draws anyway is left out: somebody who missed thousands gets them at once (P5). So are the
    parts that are named in `but`, which the caller draws by itself.
    """
    if not events:
        return []
    news = news_of(events, view.thread.pk)
    last = {subject: event.number for event in events for subject in _subjects(event)}
    frames = []
    for event in events:
        parts = {subject[0] for subject in _subjects(event) if last[subject] == event.number}.difference(but)
        whole_log = last.get(("log",), 0) > event.number and event.kind in ("message", "call")
        frames.append({"n": event.number, "html": "" if whole_log else draw_event(event, view, news, parts=parts)})
    return frames


def _subjects(event: TurnEvent) -> list[tuple[str, ...]]:
    """What an event draws anew, each of which the last event of its kind is enough for."""
    match event.kind:
        case "turn":
            return [("turn", str(event.payload["turn"])), ("state",), ("panel",)]
        case "message" | "call":
            return [(event.kind, event.payload[event.kind])]
        case "queue":
            return [("state",)]
    return [(event.kind,)]


def draw_event(event: TurnEvent, view: Viewpoint, news: News, *, parts: Collection[str]) -> SafeString:
    """The fragments that an event changes, each with the id of the element it replaces; only those named in `parts`.

    What stands on a branch that is not shown changes nothing on the page.
    """
    payload = event.payload
    html: list[str] = []
    match event.kind:
        case "message" if "message" in parts:
            message = news.messages.get(UUID(payload["message"]))
            if message and news.outline.shows(message.pk):
                html = [draw_message(message, view, siblings=news.outline.siblings(message.pk))]
        case "call" if "call" in parts:
            call = news.calls.get(UUID(payload["call"]))
            html = [draw_call(call, view)] if call else []
        case "turn":
            html += draw_turns(news.end_of(payload["turn"]), view) if "turn" in parts else []
            html += [draw_state(view)] if "state" in parts else []
            html += [draw_panel(view)] if "panel" in parts else []
        case "panel" if "panel" in parts:
            html = [draw_panel(view)]
        case "queue" if "state" in parts:
            html = [draw_state(view)]
        case "log" if "log" in parts:
            html = [draw_log(view)]
        case "thread" if "thread" in parts:
            view.thread.refresh_from_db(fields=["title", "archived", "pinned"])
            html = [draw_heading(view)]
    return mark_safe("".join(html))


def draw_log(view: Viewpoint) -> SafeString:
    """The end of the conversation along the branch that is shown, with a way to what is older (X8)."""
    outline = end_of_branch(view.thread.pk)
    return _draw("events/log.html", view, entries=draw_entries(view, outline, newest(outline.path)))


def draw_entries(view: Viewpoint, outline: Outline, window: Window) -> SafeString:
    """One stretch of a branch: its messages, the cards of their calls, and what there is to say about their turns.

    Four queries, however many messages, beside those of special cards.
    """
    ids = [place.pk for place in window.places]
    messages = {each.pk: each for each in MESSAGES.rows(ids)}
    calls: dict[Any, list[ToolCall]] = {}
    for call in CALLS_OF.rows(ids):
        calls.setdefault(call.message_id, []).append(call)
    notes: dict[Any, list[SafeString]] = {}
    cited, bodies = citations_of(messages.values()), draw_bodies(view.thread, list(messages.values()))
    ends = ends_of_turns(window)
    for (_, place), drawn in zip(ends, draw_turns(ends, view), strict=True):
        notes.setdefault(place.pk, []).append(drawn)
    parts = [_draw("events/older.html", view, older=window.older)] if window.older else []
    for pk in (pk for pk in ids if pk in messages):
        told = Told(cited.get(pk, {}), bodies.get(pk, ""))
        parts.append(draw_message(messages[pk], view, calls=calls.get(pk, []), siblings=outline.siblings(pk), told=told))
        parts += notes.get(pk, [])
    return mark_safe("".join(parts))


def draw_message(
    message: Message,
    view: Viewpoint,
    *,
    calls: list[ToolCall] | None = None,
    siblings: Siblings | None = None,
    told: Told | None = None,
) -> SafeString:
    """One message with the cards of its calls. A growing reply shows what is there so far."""
    if message.role in (Message.Role.SYSTEM, Message.Role.TOOL):
        return mark_safe("")
    if calls is None:
        calls = CALLS_OF.rows([message.pk]) if message.role == Message.Role.ASSISTANT else []
    if told is None:
        told = Told(citations_of([message]).get(message.pk, {}), draw_bodies(view.thread, [message]).get(message.pk, ""))
    growing = live.current(view.thread.pk) if message.state == Message.State.STREAMING else None
    text = growing.text if growing and growing.message_id == message.pk else message.text
    cards = [draw_call(call, view) for call in calls]
    return _draw("events/message.html", view, message=message, text=text, cards=cards, siblings=siblings, told=told)


def draw_call(call: ToolCall, view: Viewpoint) -> SafeString:
    """One call's card; of whatever tool, one that waits for a person's approval shows what it would run with (D8)."""
    own = card_for(call.name)
    card = APPROVAL if call.is_asked and not own.asks(call) else own
    return _draw(card.template, view, call=call, **card.context(call))


def draw_open_cards(view: Viewpoint) -> dict[str, str]:
    """What shows the work of others here, by element: cards of open calls, and the state."""
    drawn = [(call.pk, _pieces(call, view)) for call in calls_at_work(view.thread)]
    cards = {f"{call}/{number}": html for call, pieces in drawn for number, html in enumerate(pieces)}
    return {**cards, "state": draw_state(view)}


def _pieces(call: ToolCall, view: Viewpoint) -> list[SafeString]:
    """A call's card in the pieces that change by themselves; most cards are one."""
    pieces = card_for(call.name).pieces(call)
    return [_draw(template, view, call=call, **context) for template, context in pieces] or [draw_call(call, view)]


def draw_turns(ends: Sequence[tuple[Turn, Place]], view: Viewpoint) -> list[SafeString]:
    """What there is to say about turns beneath their last messages: a failure, a pause, a restart, what other apps add."""
    notes = draw_notes([turn.pk for turn, _ in ends])
    return [_draw("events/turn.html", view, turn=turn, last=last, notes=notes.get(turn.pk, [])) for turn, last in ends]


def draw_state(view: Viewpoint) -> SafeString:
    """What the header and the composer show of the running turn and the queue behind it."""
    turns = _STATE.rows(view.thread.pk)
    active = next((turn for turn in turns if turn.is_active), None)
    queued = [turn for turn in turns if turn.state == Turn.State.QUEUED]
    last = active or (turns[-1] if turns else None)
    # Whoever waits for others waits for a person as soon as one of them does (decision 7).
    asker = waiting_below(view.thread).first() if active and active.state == Turn.State.WAITING else None
    ahead = before(active) if active else None
    return _draw("events/state.html", view, active=active, queued=queued, last=last, asker=asker, ahead=ahead)


def _going_or_newest(thread: Any) -> "QuerySet[Turn]":
    turns = Turn.objects.filter(thread=thread)
    unfinished = ~Q(state__in=Turn.FINAL)
    return turns.select_related("user_message").filter(unfinished | Q(pk=turns.order_by("-pk").values("pk")[:1])).order_by("pk")


_STATE = Prepared(_going_or_newest)


def draw_panel(view: Viewpoint) -> SafeString:
    """What is to be told about the present turn, section by section; nothing to a visitor, whose page has no panel."""
    if view.is_visitor:
        return mark_safe("")
    present = present_of(view.thread)
    drawn = [
        _draw(section.template, view, **context) for section in sections() if (context := section.context(present)) is not None
    ]
    return _draw("events/panel.html", view, sections=drawn)


def draw_heading(view: Viewpoint) -> SafeString:
    """The conversation's title line."""
    prefetch_related_objects([view.thread], "shares__user")
    return _draw("events/heading.html", view)


def draw_sidebar(actor: access.Actor, current: Thread | None) -> SafeString:
    """The tree of conversations. A row's `state` (answer, working, unread or none) speaks for all that is under it."""
    listing = list_conversations(actor, current)
    rows = [
        {"thread": root, "state": listing.facts.state_of(root, *children), "children": list(children)}
        for root in listing.roots
        for children in [listing.below.get(root.pk, ())]
    ]
    context = {"rows": rows, "facts": listing.facts, "current": current, "actor": actor}
    return mark_safe(render_to_string("assistants/sidebar.html", context))


def draw_growing(thread: Thread) -> list[dict[str, Any]]:
    """The whole growing reply as a socket would have sent it, {"m": message number, "b": block, "h": html} each.

    Of a reply that grows in another process, what was saved within the last second.
    """
    if reply := live.current(thread.pk):
        sequence, text = reply.sequence, reply.text
    elif message := thread.messages.filter(state=Message.State.STREAMING).first():
        sequence, text = message.sequence, message.text
    else:
        return []
    stream = MarkdownStream()
    stream.update(text)
    return [{"m": sequence, "b": number, "h": html} for number, html in stream.frames(Cursor())[0]]


def _draw(template: str, view: Viewpoint, **context: Any) -> SafeString:
    precedence.give_way()
    seen = {"view": view, "thread": view.thread, "can_write": view.can_write, "definition": view.definition}
    return mark_safe(render_to_string(template, {**seen, "csrf_token": view.csrf_token, **context}))
