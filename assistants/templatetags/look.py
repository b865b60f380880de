"""How states, numbers, times and icons look: a state always has a word and a shape beside its colour."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from zipfile import ZipFile

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from assistants.models import ToolCall, Turn
from assistants.turns import claims
from assistants.turns.written import as_written

from .figures import money, short, span, took

register = template.Library()
for figure in (short, span, took, money):
    register.filter(figure)

SHOWN_CHARS = 4000
EXACT_CHARS, ONE_LINE_CHARS = 20_000, 60


@dataclass(frozen=True)
class Look:
    """A state's word, its icon (none: a dot), its tone (leaf, banana, clay or none) and whether it is going on now."""

    word: Any
    icon: str = ""
    tone: str = ""
    live: bool = False


SILENT = Look(_("being picked up again"), "refresh-cw")
TURNS = {
    "queued": Look(_("queued"), "clock"),
    "thinking": Look(_("working"), tone="leaf", live=True),
    "acting": Look(_("using a tool"), tone="leaf", live=True),
    "waiting": Look(_("waiting for others"), tone="leaf", live=True),
    "paused": Look(_("paused"), "pause", "banana"),
    "done": Look(_("done"), "check"),
    "asking": Look(_("your answer"), "message-circle-question-mark", "banana"),
    "held": Look(_("waiting for you"), "message-circle-question-mark", "banana"),
    "handed_back": Look(_("handed back"), "corner-up-left", "banana"),
    "cut_off": Look(_("cut off"), "scissors", "clay"),
    "failed": Look(_("failed"), "triangle-alert", "clay"),
    "stopped": Look(_("stopped"), "circle-stop"),
}
SUBCHATS = {
    "queued": Look(_("queued"), "clock"),
    "running": Look(_("working"), tone="leaf", live=True),
    "silent": SILENT,
    "waiting": Look(_("waiting for you"), "message-circle-question-mark", "banana"),
    "paused": Look(_("paused"), "pause", "banana"),
    "reported": Look(_("reported"), "check", "leaf"),
    "handed_back": Look(_("handed back"), "corner-up-left", "banana"),
    "refused": Look(_("refused"), "ban", "clay"),
    "cut_off": Look(_("cut off"), "scissors", "clay"),
    "failed": Look(_("failed"), "triangle-alert", "clay"),
    "stopped": Look(_("stopped"), "circle-stop"),
}
CALLS = {
    "queued": Look(_("queued"), "clock"),
    "running": Look(_("running"), tone="leaf", live=True),
    "decide": Look(_("you decide"), "message-circle-question-mark", "banana"),
    "asked": Look(_("waiting for you"), "message-circle-question-mark", "banana"),
    "ok": Look(_("done"), "check", "leaf"),
    "error": Look(_("failed"), "triangle-alert", "clay"),
    "refused": Look(_("refused"), "ban", "clay"),
    "stopped": Look(_("stopped"), "circle-stop"),
    "unknown": Look(_("outcome unknown"), "circle-question-mark", "banana"),
}
RELEVANCE = {
    "strong": Look(_("strong"), "signal-high", "leaf"),
    "moderate": Look(_("moderate"), "signal-medium"),
    "weak": Look(_("weak"), "signal-low"),
}
GUARD = {
    "refused": Look(_("not let through"), "shield-alert", "clay"),
    "withheld": Look(_("withheld"), "shield-alert", "banana"),
    "filtered": Look(_("partly withheld"), "shield-alert", "banana"),
}
KIND_WORDS = {
    "thinking": _("thinking"),
    "tools": _("tools"),
    "others": _("waiting for others"),
    "person": _("waiting for you"),
    "pause": _("pause"),
}
PLAIN = Look("")
WHY = {
    "tool": _("This tool always asks first."),
    "assistant": _("This assistant is set up to ask before it uses it."),
    "taint": _(
        "This conversation holds the team's data and text from outside, which can hold orders of somebody else; and this"
        " tool can send something out."
    ),
}
# Written, but not seen: what changes the direction of text, has no width, or is no character at all.
_UNSEEN_RANGES = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160)),
    *((0x17B4, 0x17B5), (0x180B, 0x180E), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB), (0xE0000, 0xE0FFF)),
)
UNSEEN = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSEEN_RANGES)}]")


@register.simple_tag
@lru_cache(maxsize=128)
def icon(name: str) -> str:
    """An icon that says nothing by itself: the words beside it do."""
    drawing = _drawings().read(f"{name}.svg").decode().partition(">")[2]
    inside = " ".join(drawing.split()).replace("> <", "><").replace(" />", "/>")
    # Size, colour and stroke stand in the style sheet: a page has a hundred of these.
    return mark_safe(f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{inside}')


@cache
def _drawings() -> ZipFile:
    """Kept open: the package's own tag reads the list of all 1,700 icons for each one, which takes 10 ms."""
    return ZipFile((files("lucide") / "lucide.zip").open("rb"))


@register.inclusion_tag("assistants/parts/chip.html")
def chip(look: Look) -> dict[str, Look]:
    """A state as a chip."""
    return {"look": look}


@register.filter
def turn_look(turn: Turn) -> Look:
    """A turn's state; a turn that ended with a question or a hand-back is told apart."""
    if wants_person(turn):
        return TURNS["held"]
    if is_silent(turn):
        return SILENT
    return TURNS.get(turn.ending, PLAIN)


@register.filter
def turn_state_look(state: str) -> Look:
    """How a turn's state looks, by its name."""
    return TURNS.get(state, PLAIN)


@register.filter
def kind_word(kind: str) -> str:
    """What an agent did in a stretch of the timeline, in a word."""
    return str(KIND_WORDS.get(kind, kind))


@register.filter
def wants_person(turn: Turn | None) -> bool:
    """Whether a call of this turn waits for a person: an approval, or an outcome that nobody knows."""
    return bool(turn and turn.pk and turn.state in ("acting", "waiting") and turn.calls.for_a_person().exists())


@register.filter
def is_silent(turn: Turn | None) -> bool:
    """Whether nothing has been heard of a turn at work for some seconds, so that it will be picked up again."""
    return turn is not None and claims.is_silent(turn)


@register.filter
def relevance_look(relevance: str) -> Look:
    """How much a piece of evidence says about the question."""
    return RELEVANCE.get(relevance, RELEVANCE["moderate"])


@register.filter
def subchat_look(state: str) -> Look:
    """A sub-chat's state, as its card names it."""
    return SUBCHATS.get(state, PLAIN)


@register.filter
def call_look(call: ToolCall) -> Look:
    """A tool call's state."""
    if call.is_asked:
        return CALLS["asked"]
    if call.is_open:
        return CALLS["decide" if call.needs_decision else "running" if call.started else "queued"]
    return CALLS.get(call.outcome, PLAIN)


@register.filter
def guard_look(call: ToolCall) -> Look:
    """What the guard did with a call, if anything."""
    return GUARD.get((call.guard or {}).get("action", ""), PLAIN)


@register.filter
def why_asked(call: ToolCall) -> list[Any]:
    """Why a person has to agree to this call, in sentences."""
    return [WHY[reason] for reason in (call.approval or {}).get("why", []) if reason in WHY]


@dataclass(frozen=True)
class Exact:
    """One argument as a person reads it before they agree: `shown` with what can't be seen made visible, `raw` for
    changing it, `rest` the number of characters that are left out, `lines` the height of its field."""

    name: str
    shown: str
    raw: str
    rest: int
    lines: int


@register.filter
def exact(arguments: dict[str, Any]) -> list[Exact]:
    """A call's arguments, each with up to 20,000 characters and with its unseen ones named (S30, agents' human trust)."""
    return [_exact(str(name), value) for name, value in arguments.items()]


def _exact(name: str, value: object) -> Exact:
    raw = as_written(value)
    if not isinstance(value, str) and raw[:1] in ("[", "{") and len(raw) > ONE_LINE_CHARS:
        raw = json.dumps(value, ensure_ascii=False, indent=2)
    shown = UNSEEN.sub(lambda sign: f"⟦U+{ord(sign[0]):04X}⟧", raw[:EXACT_CHARS])
    lines = min(max(raw.count("\n") + 1, len(raw) // 60 + 1), 12)
    return Exact(name, shown, raw, max(len(raw) - EXACT_CHARS, 0), lines)


@register.filter
def takes_words(call: ToolCall) -> bool:
    """Whether a question may be answered in the person's own words (J-27)."""
    return bool(call.arguments.get("allowFreeText", True))


@register.filter
def moment(value: datetime | str | None) -> SafeString | str:
    """A time of day; the page shows it in the reader's own time zone."""
    at = datetime.fromisoformat(value) if isinstance(value, str) and value else value
    if not isinstance(at, datetime):
        return ""
    shown = timezone.localtime(at)
    return format_html('<time datetime="{}" data-clock>{}</time>', at.isoformat(timespec="seconds"), f"{shown:%H:%M}")


@register.filter
def letter(name: str) -> str:
    """What stands in for a missing avatar."""
    return next((sign.upper() for sign in name if sign.isalnum()), "•")


@register.filter
def is_tall(text: str) -> bool:
    """Whether a text may be cut off where it stands, so that whoever has no mouse must be able to scroll it."""
    return len(text) > 400 or text.count("\n") > 8


@register.filter
def readable(value: object) -> list[tuple[str, str]]:
    """What goes into or comes out of a tool, as (name, text) pairs; without names if it is no object.

    Long values are cut to 4,000 characters in all, with a mark.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return [("", _cut(value))] if value.strip() else []
    if isinstance(value, dict):
        return [(str(name), _cut(_as_text(item))) for name, item in value.items()]
    return [("", _cut(_as_text(value)))] if value not in (None, "", []) else []


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
        return "\n".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, indent=2)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + " …"
