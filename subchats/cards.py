"""What a delegation's preview card shows, read from the record so that a reload draws the same card."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext_lazy as _

from assistants import clock
from assistants.conversations.bare import bare_line
from assistants.models import Thread, ToolCall, Turn
from assistants.models.definition import avatar_of, name_in, name_of
from assistants.models.prepared import Prepared
from assistants.sentences import spoken
from subchats.models import Delegation

from .below import Below, look_below

LAST_LINE_CHARS = 240
CODED_LINE = re.compile(r"\[([A-Z_]+)\] field=.* fix=(.*)\n")
# A heading, also one in bold, and a table's row; and what begins a line of its own after another one.
LEAD = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s|\||(\*\*|__)(?:(?!\1).)+\1\s*$)")
OWN_LINE = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s|\||[-*+]\s|\d+[.)]\s)")
# Behind a word rather than an abbreviation or an ordinal number, and before a new beginning.
SENTENCE_END = re.compile(r"[。！？]|(?:[!?…]|(?<=\w{3}\.)|(?<=[)\]”\"»%]\.))[)\]”“\"»’']*(?=\s+[^\sa-zäöüß])")
WORDS = ("", _("One"), _("Two"), _("Three"), _("Four"), _("Five"), _("Six"), _("Seven"), _("Eight"))


@dataclass(frozen=True)
class Face:
    """How the card of one kind of sub-chat words its task, and the newest text that the sub-chat has written: by that text's
    last line where it gives nothing."""

    task: Callable[[Delegation], str]
    said: Callable[[Delegation, str], str]
    label: Callable[[Delegation], str] = lambda delegation: delegation.label


Asked = Callable[[dict[str, Any]], tuple[str, str]]
_faces: dict[str, Face] = {}
_asked: dict[str, Asked] = {}


def register_face(kind: str, face: Face) -> None:
    """Words the cards of a kind of sub-chat whose task and reports are not written for people."""
    _faces[kind] = face


def register_asked(tool: str, words: Asked) -> None:
    """Words who is asked for what by the arguments of a tool's call that has opened nothing, where models exchange JSON."""
    _asked[tool] = words


@dataclass(frozen=True)
class Row:
    """A sub-chat below the card's own, as one small line."""

    name: str
    state: str
    chat_id: str


@dataclass(frozen=True)
class Progress:
    """How far the sub-chats of one call are together; `word` is their number in words, `since` is empty once all are back.

    `back` did what they were asked to. `early` are back too, but were stopped, cut off or failed, or handed their task back.
    """

    element: str
    total: int
    word: Any
    back: int
    early: int
    since: Any
    seconds: int


def card_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card of `invoke_assistant` or `spawn_agent` shows. A refused call has no child."""
    delegation = _DELEGATIONS.first(call.pk)
    if delegation is None:
        return _without_child(call, [call.arguments])
    below = look_below([delegation.child])[delegation.child_id]
    return {"element": f"c{call.pk.hex}", "delegation": delegation, **child_context(delegation, below)}


def lanes_context(call: ToolCall) -> dict[str, Any]:
    """Everything the card of `spawn_agents` shows: how far they are together, and a card for each (J-11)."""
    delegations = _DELEGATIONS.rows(call.pk)
    if not delegations:
        tasks = call.arguments.get("tasks")
        return {"lanes": [], **_without_child(call, [each for each in tasks or [] if isinstance(each, dict)])}
    below = look_below([each.child for each in delegations])
    lanes = [_lane(call, each, below[each.child_id]) for each in delegations]
    return {"lanes": lanes, "fan_out": _progress(call, delegations)}


def lane_pieces(call: ToolCall) -> list[tuple[str, dict[str, Any]]]:
    """The parts of a fan-out's card that change by themselves, each drawn alone: its heading and its lanes."""
    seen = lanes_context(call)
    lanes = [("subchats/card.html", lane) for lane in seen["lanes"]]
    return [("subchats/lanes_head.html", {"fan_out": seen["fan_out"]}), *lanes] if lanes else []


_DELEGATIONS = Prepared(
    lambda call: Delegation.objects.select_related("child__assistant", "child__tenant").filter(call=call).order_by("position")
)


def _without_child(call: ToolCall, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """A call that opened nothing: who was asked for what and, once it was refused, why not."""
    code, why = refusal_in(call)
    if call.name in _asked:
        name, task = _asked[call.name](call.arguments)
        # Its sentence shows a model how it is done right, in JSON; what to do about it is said in words.
        coded = CODED_LINE.match(call.result)
        why = coded[2] if coded else why
    else:
        tenant = call.turn.thread.tenant_id
        name = ", ".join(name_in(tenant, each.get("assistant")) or str(_("Ad-hoc agent")) for each in tasks)
        task = " · ".join(str(each.get("task", "")) for each in tasks)
    return {
        "element": f"c{call.pk.hex}",
        "delegation": None,
        "child": None,
        "name": name or call.name,
        "task": task,
        "state": "queued" if call.is_open else "stopped" if call.outcome == ToolCall.Outcome.STOPPED else "refused",
        "code": code,
        "error": why,
    }


def refusal_in(call: ToolCall) -> tuple[str, str]:
    """The refusal's code and its sentence; the line that is meant for a model is left out."""
    found = CODED_LINE.match(call.result)
    return (found[1], call.result[found.end() :]) if found else ("", call.result)


def _lane(call: ToolCall, delegation: Delegation, below: Below) -> dict[str, Any]:
    own_words = not " ".join(delegation.task.split()).startswith(delegation.label.rstrip("…"))
    return {
        "element": f"c{call.pk.hex}-{delegation.position}",
        "lane": True,
        "delegation": delegation,
        "label": _faces.get(delegation.kind, PLAIN_FACE).label(delegation) if own_words else "",
        **child_context(delegation, below),
    }


def _progress(call: ToolCall, delegations: list[Delegation]) -> Progress:
    total = len(delegations)
    reports = [each.report or {} for each in delegations if each.returned_at]
    back = sum(bool(report.get("success")) for report in reports)
    return Progress(
        element=f"c{call.pk.hex}-head",
        total=total,
        word=WORDS[total] if total < len(WORDS) else str(total),
        back=back,
        early=len(reports) - back,
        since="" if call.settled else call.started or call.turn.created,
        seconds=max(int(((call.settled or clock.now()) - (call.started or call.turn.created)).total_seconds()), 0),
    )


def calls_at_work(thread: Thread) -> list[ToolCall]:
    """The thread's delegations whose sub-chat works although its report was given: continued, or run again (D2)."""
    return _AT_WORK.rows(thread.pk)


_AT_WORK = Prepared(
    lambda thread: (
        ToolCall.objects.select_related("turn__thread", "message")
        .filter(turn__thread=thread, pk__in=Turn.objects.active().values("thread__delegation__call"))
        .exclude(state=ToolCall.State.OPEN)
    )
)


def child_context(delegation: Delegation, below: Below) -> dict[str, Any]:
    """The state and the figures of one sub-chat."""
    child, turn, state, usage = below.child, below.turn, below.state, below.usage
    face = _faces.get(delegation.kind, PLAIN_FACE)
    return {
        "child": child,
        "name": name_of(child),
        "avatar": avatar_of(child),
        "state": state,
        "task": face.task(delegation),
        "last_line": _telling_line(below, face.said(delegation, below.text)),
        "tool": below.tool if state == "running" else "",
        "tools": below.tools,
        "steps": usage.steps,
        "tokens": usage.tokens,
        "cost": usage.cost,
        "seconds": usage.seconds,
        "hand_back": delegation.hand_back,
        "owner": name_in(child.tenant_id, (delegation.hand_back or {}).get("owner")),
        "error": spoken(turn.note) if turn and state in ("cut_off", "failed", "stopped", "paused") else "",
        "nested": [Row(name_of(each.child), each.state, each.child.chat_id) for each in below.nested],
        "questions": below.questions,
        "approvals": below.approvals,
        "undecided": below.undecided,
        "silent": state == "running" and below.silent,
        "can_send_back": can_send_back(delegation, turn),
        "last_turn": turn,
    }


def _telling_line(below: Below, worded: str) -> str:
    """What a person needs of all that was written: nothing beside what they are asked, which stands on the card itself; how
    far it is while it works or where it broke off; what it comes to once it has reported."""
    if below.state == "waiting":
        return ""
    return worded or (first_sentence(below.text) if below.state == "reported" else last_line(below.text))


def last_line(text: str) -> str:
    """The last line of a text that says something, without the marks of Markdown, and not more than its end if it is long."""
    bare = next(filter(None, map(bare_line, reversed(text.splitlines()))), "")
    return bare if len(bare) <= LAST_LINE_CHARS else "…" + bare[-LAST_LINE_CHARS:]


def first_sentence(text: str) -> str:
    """The first sentence that tells something, as bare: none of a heading, a table or a line that only leads to the next,
    unless there is nothing else. Not more than its beginning if it is long."""
    lines = text.splitlines()
    telling = (place for place, line in enumerate(lines) if bare_line(line) and not _leads(line))
    first = next(telling, None)
    if first is None:
        bare = next(filter(None, map(bare_line, lines)), "")
    else:
        rest = takewhile(lambda line: bare_line(line) and not OWN_LINE.match(line), lines[first + 1 :])
        bare = " ".join(map(bare_line, [lines[first], *rest]))
    if end := SENTENCE_END.search(bare):
        bare = bare[: end.end()]
    return bare if len(bare) <= LAST_LINE_CHARS else bare[:LAST_LINE_CHARS].rstrip() + "…"


def _leads(line: str) -> bool:
    return bool(LEAD.match(line)) or bare_line(line).endswith((":", "："))


PLAIN_FACE = Face(task=lambda delegation: delegation.task, said=lambda delegation, text: "")


def can_send_back(delegation: Delegation, turn: Turn | None) -> bool:
    """Whether the sub-chat has a result that its parent has not been given; a question to a person is none."""
    if turn is None or turn.ending not in ("done", "handed_back") or not delegation.returned_at:
        return False
    return bool(turn.finished and turn.finished > delegation.returned_at and turn.pk > delegation.sent_turn)
