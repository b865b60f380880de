"""Draws the parts of a conversation's page: the same fragments on the first load, live, and when polling."""

from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from assistants import access
from assistants.models import Message, Thread, ToolCall, Turn, TurnEvent
from assistants.models.definition import Definition, definition_of
from assistants.turns import live
from assistants.turns.prompt import branch

from .cards import card_for


@dataclass(frozen=True)
class Viewpoint:
    """Whose eyes see the thread: what is drawn depends on nothing else but the database."""

    thread: Thread
    actor: access.Actor
    can_write: bool
    definition: Definition


def viewpoint(thread: Thread, actor: access.Actor) -> Viewpoint:
    return Viewpoint(thread, actor, access.may(actor, "write", thread), definition_of(thread))


def draw_event(event: TurnEvent, view: Viewpoint) -> SafeString:
    """The fragments that an event changes, each with the id of the element it replaces."""
    payload = event.payload
    match event.kind:
        case "message":
            message = Message.objects.filter(pk=payload["message"]).select_related("author", "turn").first()
            return draw_message(message, view) if message else mark_safe("")
        case "call":
            call = ToolCall.objects.filter(pk=payload["call"]).select_related("turn", "message").first()
            return draw_call(call, view) if call else mark_safe("")
        case "turn":
            turn = Turn.objects.filter(pk=payload["turn"]).first()
            return mark_safe(draw_turn(turn, view) + draw_state(view)) if turn else mark_safe("")
        case "queue":
            return draw_state(view)
        case "log":
            return draw_log(view)
        case "thread":
            return draw_heading(view)
    return mark_safe("")


def draw_log(view: Viewpoint) -> SafeString:
    """The whole conversation along the branch that is shown."""
    thread = Thread.objects.only("leaf_id").get(pk=view.thread.pk)
    leaf = Message.objects.filter(pk=thread.leaf_id).first()
    path = [message for message in branch(view.thread, leaf) if message.role != Message.Role.SYSTEM]
    calls: dict[Any, list[ToolCall]] = {}
    found = ToolCall.objects.filter(message__in=[each.pk for each in path]).select_related("turn", "message")
    for call in found.order_by("round", "index"):
        calls.setdefault(call.message_id, []).append(call)
    turns = Turn.objects.filter(pk__in={each.turn_id for each in path if each.turn_id})
    parts = [draw_message(message, view, calls=calls.get(message.pk, [])) for message in path]
    parts += [draw_turn(turn, view) for turn in turns.order_by("pk")]
    return _draw("events/log.html", view, entries=mark_safe("".join(parts)))


def draw_message(message: Message, view: Viewpoint, *, calls: list[ToolCall] | None = None) -> SafeString:
    """One message with the cards of its calls. A growing reply shows what is there so far."""
    if message.role in (Message.Role.SYSTEM, Message.Role.TOOL):
        return mark_safe("")
    if calls is None:
        calls = list(message.calls.select_related("turn", "message").order_by("round", "index"))
    growing = live.current(view.thread.pk) if message.state == Message.State.STREAMING else None
    text = growing.text if growing and growing.message_id == message.pk else message.text
    cards = [draw_call(call, view) for call in calls]
    return _draw("events/message.html", view, message=message, text=text, cards=cards)


def draw_call(call: ToolCall, view: Viewpoint) -> SafeString:
    """One call's card."""
    card = card_for(call.name)
    return _draw(card.template, view, call=call, **card.context(call))


def draw_open_cards(actor: access.Actor, thread: Thread) -> dict[str, str]:
    """The cards of this thread's calls that are still open, by call id; access is asked again (D7)."""
    thread = access.get_thread(actor, thread.chat_id)
    view = viewpoint(thread, actor)
    calls = ToolCall.objects.filter(turn__thread=thread, state=ToolCall.State.OPEN).select_related("turn", "message")
    return {str(call.pk): draw_call(call, view) for call in calls}


def draw_turn(turn: Turn, view: Viewpoint) -> SafeString:
    """What there is to say about a turn beneath its last message: a failure, a pause, a restart."""
    last = turn.messages.order_by("-sequence").exclude(role=Message.Role.TOOL).first()
    return _draw("events/turn.html", view, turn=turn, last=last)


def draw_state(view: Viewpoint) -> SafeString:
    """What the header and the composer show of the running turn and the queue behind it."""
    turns = list(view.thread.turns.select_related("user_message").exclude(state__in=Turn.FINAL).order_by("pk"))
    active = next((turn for turn in turns if turn.is_active), None)
    queued = [turn for turn in turns if turn.state == Turn.State.QUEUED]
    last = view.thread.turns.order_by("-pk").first() if active is None else active
    return _draw("events/state.html", view, active=active, queued=queued, last=last)


def draw_heading(view: Viewpoint) -> SafeString:
    """The conversation's title line."""
    view.thread.refresh_from_db(fields=["title", "archived", "pinned"])
    return _draw("events/heading.html", view)


def draw_sidebar(actor: access.Actor, current: Thread | None) -> SafeString:
    """The tree of conversations."""
    threads = access.threads_for(actor).filter(archived=False)
    roots = threads.filter(parent=None).select_related("assistant").order_by("-pinned", "-updated")[:100]
    under: dict[int, list[Thread]] = {}
    for child in threads.filter(root__in=[each.pk for each in roots]).select_related("assistant").order_by("pk"):
        under.setdefault(child.root_id or 0, []).append(child)
    states = dict(
        Turn.objects.active()
        .filter(thread__in=[each.pk for each in roots] + [each.pk for kids in under.values() for each in kids])
        .values_list("thread_id", "state")
    )
    rows = [{"thread": root, "state": states.get(root.pk, ""), "children": under.get(root.pk, [])} for root in roots]
    return mark_safe(
        render_to_string("assistants/sidebar.html", {"rows": rows, "current": current, "states": states, "actor": actor})
    )


def _draw(template: str, view: Viewpoint, **context: Any) -> SafeString:
    return mark_safe(
        render_to_string(
            template,
            {"view": view, "thread": view.thread, "can_write": view.can_write, "definition": view.definition, **context},
        )
    )
