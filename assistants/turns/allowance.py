"""What a model call may use: asked for before it, counted while it streams, and what happens when no more is left."""

from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction

from assistants import clock
from assistants.llm.reply import ModelError, Sink
from assistants.llm.request import estimate_tokens
from assistants.models import Turn
from assistants.models.definition import Definition
from assistants.models.prepared import put

from . import budget, events, executors, periods
from .budget import Denied, Permit, Standing
from .claims import locked
from .lifecycle import finish_turn, pause_turn
from .prompt import Prompt, Talk, build_prompt

# Reasons of turns, and the code of a reply that was cut off (J-19).
USED_UP, PERIOD_USED_UP, WAITS = "limit:budget", "limit:budget_period", "wait:budget"
OVERRUN = "BUDGET_OVERRUN"
WAIT_SECONDS = 1.0
# The four parts of J-13. Sub-chats that are refused for the same reason say the same.
LAST_WORD = (
    "The token budget of this request is used up: nothing more can be looked up or handed over. Write your answer now, in"
    " four parts: take stock of where the work stands; report what is established; name what you were about to hand over"
    " or look up next; and ask the person whether this is on the right lines."
)


@dataclass(frozen=True)
class Allowed:
    """A model call that may be made: what is asked, and what it may use. `asked` is its prompt in tokens, by guess."""

    prompt: Prompt
    permit: Permit
    asked: int


class Meter:
    """Passes a growing reply on and cuts it off between two deltas once it outgrows what its call may use (J-19)."""

    def __init__(self, sink: Sink, permit: Permit) -> None:
        self._sink, self._room, self._bounded = sink, permit.room * 4, permit.room > 0

    def on_text(self, delta: str) -> None:
        self._sink.on_text(delta)
        self._count(delta)

    def on_reasoning(self, delta: str) -> None:
        self._sink.on_reasoning(delta)
        self._count(delta)

    def _count(self, delta: str) -> None:
        self._room -= len(delta)
        if self._bounded and self._room < 0:
            raise ModelError(code=OVERRUN, message="The token budget of this request was used up in mid-sentence.")


def allow(turn: Turn, definition: Definition, talk: Talk) -> Allowed | None:
    """Builds the turn's next request and reserves its tokens; None when the turn waits, pauses or ends for want of them.

    In the runner's transaction. A sub-chat without tokens ends with what it has (decision 9); the turn at the top is
    given a last word out of its reserve, without tools. It pauses until a person adds more only if it can't even have that.
    """
    standing = budget.standing_of(turn)
    if standing.has_periods and (account := periods.blocking(turn)):
        pause_turn(turn, reason=PERIOD_USED_UP, note=account.note, wake_at=account.ends)
        return None
    if standing.percent >= budget.NOTICE_PERCENT:
        _notice(turn, standing, budget.NOTICE_PERCENT)
    allowed = _ask(turn, definition, talk, standing, last_word=False)
    if allowed is Denied.LAST_WORD:
        _notice(turn, standing, budget.USED_UP_PERCENT)
        allowed = _ask(turn, definition, talk, standing, last_word=True)
    if isinstance(allowed, Allowed):
        return allowed
    if allowed is Denied.WAIT:
        note = "It waits until other calls of this request have said what they used: together they could use too much."
        pause_turn(turn, reason=WAITS, note=note, seconds=WAIT_SECONDS)
    else:
        run_out(turn, standing.cap)
    return None


def run_out(turn: Turn, cap: int | None = None) -> None:
    """Ends a sub-chat whose tree has no tokens left, or pauses the turn at the top until a person adds some (J-19)."""
    if turn.root_id:
        note = "It was cut off: the token budget of the whole request is used up."
        finish_turn(turn, state=Turn.State.FAILED, reason=USED_UP, note=note)
    else:
        cap = budget.cap_of(turn) if cap is None else cap
        note = f"The budget of this turn, {cap:,} tokens, is used up. What was found so far is kept."
        pause_turn(turn, reason=USED_UP, note=note)


def top_up(turn_id: int) -> int:
    """Adds a helping of tokens to a turn that pauses for want of them, and lets it go on where it was; gives how many.

    None where the turn does not wait for them (any more): a second click is harmless.
    """
    tokens = int(settings.TASKMONKEY["TOP_UP_TOKENS"])
    with locked(turn_id) as turn:
        if turn.state != Turn.State.PAUSED or turn.reason != USED_UP:
            return 0
        turn.extra_tokens += tokens
        turn.budget_notice = 0
        turn.state, turn.reason, turn.note = Turn.State.THINKING, "", ""
        put(turn)
        events.record(turn.thread_id, "turn", turn=turn.pk)
        transaction.on_commit(lambda: executors.enqueue(turn_id), robust=True)
    return tokens


def wake_rested() -> None:
    """Wakes turns whose period budget was raised before the period is over; asked by the sweeper."""
    asleep = Turn.objects.filter(state=Turn.State.PAUSED, reason=PERIOD_USED_UP, wake_at__gt=clock.now())
    for turn_id in asleep.values_list("pk", flat=True):
        with locked(turn_id) as turn:
            if turn.reason == PERIOD_USED_UP and turn.state == Turn.State.PAUSED and periods.blocking(turn) is None:
                turn.wake_at = clock.now()
                put(turn, "wake_at")


def bounded(prompt: Prompt, permit: Permit) -> Prompt:
    """The same request, with no more answer asked of the provider than the permit has."""
    if not permit.clamped:
        return prompt
    return replace(prompt, profile=replace(prompt.profile, max_output_tokens=permit.output))


def _ask(turn: Turn, definition: Definition, talk: Talk, standing: Standing, *, last_word: bool) -> Allowed | Denied:
    told = _told(standing, last_word)
    prompt = build_prompt(turn, turn.thread, definition, talk=talk, told=told, endings_only=last_word)
    asked = estimate_tokens(prompt.messages, prompt.tools)
    output = prompt.profile.max_output_tokens
    permit = budget.reserve(turn, standing, asked=asked, output=output, last_word=last_word)
    return Allowed(bounded(prompt, permit), permit, asked) if isinstance(permit, Permit) else permit


def _told(standing: Standing, last_word: bool) -> str:
    if last_word:
        return LAST_WORD
    if standing.percent < budget.NOTICE_PERCENT:
        return ""
    left = max(standing.left, 0)
    return (
        f"{standing.percent} % of this request's token budget is used, {left:,} tokens are left for everybody who works on it."
        " Finish with what you have; hand over only what the answer can't do without."
    )


def _notice(turn: Turn, standing: Standing, percent: int) -> None:
    """Tells the person once that so much of the budget is used: under the turn at the top."""
    if standing.noticed >= percent:
        return
    if standing.is_root:
        turn.budget_notice = percent
    Turn.objects.filter(pk=standing.root_id).update(budget_notice=percent)
    events.record(standing.thread_id, "turn", turn=standing.root_id)
