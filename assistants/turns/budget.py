"""One token budget over a turn and everything that it started: the ledger, and what it still allows (section 7, P15)."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Sum

from assistants import clock
from assistants.errors import CodedError
from assistants.llm.request import estimate_chars
from assistants.models import Assistant, Budget, Message, SpendEntry, Turn
from assistants.models.definition import definition_of, resolve_profile
from assistants.models.prepared import Prepared, insert, put

NOTICE_PERCENT, USED_UP_PERCENT = 80, 100
# With less room than this for its answer, a call is not worth its prompt.
SMALLEST_OUTPUT = 256
# What the last word of the turn at the top may take beyond the cap, if its prompt ate up the reserve: the one call of P15.
LAST_WORD_OUTPUT = 1000
# A sub-chat is not worth opening with less than this left.
SMALLEST_CALL = 500


@dataclass(frozen=True)
class Standing:
    """How a tree stands against its cap before a model call of one of its turns, in tokens; a cap of 0 is no bound.

    `used` was paid, `held` is reserved by calls under way. `reserve` is the part of the cap for the turn at the top alone.
    """

    root_id: int
    thread_id: int
    is_root: bool
    cap: int
    reserve: int
    used: int
    held: int
    noticed: int = 0
    has_periods: bool = False

    @property
    def left(self) -> int:
        """What nobody has used or reserved; for a turn below the top without the reserve."""
        return self.cap - self.used - self.held - (0 if self.is_root else self.reserve)

    @property
    def percent(self) -> int:
        """The used part of the cap."""
        return self.used * 100 // self.cap if self.cap else 0


@dataclass(frozen=True)
class Permit:
    """Leave for one model call: `reserved` tokens, of which `output` for its answer; `room` counts until it is cut off."""

    entry_id: int
    reserved: int
    output: int
    room: int
    clamped: bool = False
    last_word: bool = False


class Denied(Enum):
    """Why a call gets no permit: others must settle first; only a last word is left; nothing is left."""

    WAIT = auto()
    LAST_WORD = auto()
    USED_UP = auto()


def cap_of(root: Turn) -> int:
    """The tokens that the tree under this root turn may use; 0 means no bound."""
    return cap_by(root.thread.assistant, root)


def cap_by(assistant: Assistant | None, root: Turn) -> int:
    """The same, where the top's assistant has just been read. Of a turn that has ended, as it was then."""
    if root.is_final and root.token_cap is not None:
        return root.token_cap
    return _cap(assistant.turn_tokens if assistant else None, root.extra_tokens)


def is_exhausted(turn: Turn) -> bool:
    """Whether the tree that this turn belongs to has used up what may be used below its top (J-13).

    A reservation does not refuse a sub-chat: the new one waits until it is settled.
    """
    row = _read(turn.root_id or turn.pk, turn)
    cap = _cap(row["own"], row["extra_tokens"])
    if not cap:
        return False
    paid, held = row["used"] or 0, row["held"] or 0
    return cap - reserve_of(cap) - paid < min(SMALLEST_CALL, cap // 20) or paid + held >= cap


def standing_of(turn: Turn) -> Standing:
    """Locks the tree's account until the transaction ends, and reads it: one query, and one more below the top.

    What a dead runner of this very turn left open is settled first, by guess: a crash may cost a call, and it counts.
    """
    root_id = turn.root_id or turn.pk
    # SQLite has one writer at a time anyway. Elsewhere the sums must be read after the lock, in a statement of their own.
    if turn.root_id and connection.features.has_select_for_update:
        Turn.objects.select_for_update(no_key=True).only("pk").get(pk=root_id)
    row = _read(root_id, turn)
    if row["left_open"]:
        close_open(turn)
        put(turn, "input_tokens", "output_tokens", "model_calls", "cost")
        row = _read(root_id, turn)
    cap = _cap(row["own"], row["extra_tokens"])
    return Standing(
        root_id=root_id,
        thread_id=row["thread_id"],
        is_root=not turn.root_id,
        cap=cap,
        reserve=reserve_of(cap),
        used=row["used"] or 0,
        held=row["held"] or 0,
        noticed=row["budget_notice"],
        has_periods=bool(row["has_periods"]),
    )


def reserve(turn: Turn, standing: Standing, *, asked: int, output: int, last_word: bool = False) -> Permit | Denied:
    """Reserves what a call may use: `asked` tokens of prompt and at most `output` of answer (P15).

    Inside the transaction that read the standing. A turn below the top gets all that is left rather than nothing, but
    only once no other call is under way; the turn at the top never waits, and has its reserve for a last word.
    """
    if not standing.cap:
        return _write(turn, standing, asked=asked, output=output, wanted=output, room=0, last_word=False)
    granted, room = output, 0
    left = standing.left - with_margin(asked)
    if last_word:
        if standing.left <= 0:
            return Denied.USED_UP
        granted = min(output, max(without_margin(left), LAST_WORD_OUTPUT))
    elif standing.is_root:
        if left - standing.reserve < SMALLEST_OUTPUT:
            return Denied.LAST_WORD
        # While the top works nobody below it does, so a model that knows no limit may take all there is.
        granted, room = min(output, without_margin(left)), left
    elif left < with_margin(output):
        if standing.held:
            return Denied.WAIT
        if left < SMALLEST_OUTPUT:
            return Denied.USED_UP
        granted, room = without_margin(left), left
    return _write(turn, standing, asked=asked, output=granted, wanted=output, room=room, last_word=last_word)


def settle(permit: Permit, *, tokens: int, cost: Decimal) -> None:
    """Puts what the call did use in the place of what it had reserved; once (P15)."""
    _OPEN.update(permit.entry_id, tokens=tokens, cost=cost, settled=clock.now())


def close_open(turn: Turn) -> None:
    """Settles what calls of this turn left open that nobody will end any more, by what was asked and written; the caller
    saves the turn, to which the same is added."""
    for entry in _UNSETTLED.rows(turn.pk):
        message = Message.objects.filter(turn=turn, role=Message.Role.ASSISTANT, round=entry.round).first()
        written = estimate_chars(len(message.text) + len(message.reasoning)) if message else 0
        cost = charge(turn, input_tokens=entry.tokens, output_tokens=written, prices=_prices(turn))
        entry.tokens, entry.cost, entry.settled = entry.tokens + written, cost, clock.now()
        put(entry, "tokens", "cost", "settled")


def charge(turn: Turn, *, input_tokens: int, output_tokens: int, prices: tuple[float, float]) -> Decimal:
    """Adds one model call to the turn's own sums and gives its cost; prices are per million tokens, in and out."""
    cost = Decimal((input_tokens * prices[0] + output_tokens * prices[1]) / 1_000_000).quantize(Decimal("0.000001"))
    turn.input_tokens += input_tokens
    turn.output_tokens += output_tokens
    turn.model_calls += 1
    turn.cost += cost
    return cost


def with_margin(tokens: int) -> int:
    """A guess, with room for what it may be wrong: prose has up to five characters a token, and we count four."""
    return tokens + tokens // 4


def without_margin(tokens: int) -> int:
    return max(tokens, 0) * 4 // 5


def _cap(own: int | None, extra: int) -> int:
    base = int(settings.TASKMONKEY["TURN_TOKENS"]) if own is None else own
    return base + extra if base else 0


def reserve_of(cap: int) -> int:
    """The part of a cap that only the turn at the top may use, so that it can answer."""
    return min(int(settings.TASKMONKEY["ROOT_RESERVE_TOKENS"]), cap // 4)


def _read(root_id: int, turn: Turn) -> dict[str, Any]:
    found = _FACTS.first(root_id, turn.pk)
    if found is None:
        raise Turn.DoesNotExist(f"turn {root_id} is gone")
    return dict(zip(FACTS, found, strict=True))


def _facts(root: Any, turn: Any) -> "QuerySet[Turn, tuple[Any, ...]]":
    entries = SpendEntry.objects.filter(root=OuterRef("pk")).order_by().values("root")
    facts = Turn.objects.filter(pk=root).annotate(
        own=F("thread__assistant__turn_tokens"),
        used=_sum(entries.exclude(settled=None), "tokens"),
        held=_sum(entries.filter(settled=None), "reserved"),
        left_open=Exists(SpendEntry.objects.filter(turn=turn, settled=None)),
        has_periods=Exists(Budget.objects.filter(tenant=OuterRef("thread__tenant")).exclude(hard=None)),
    )
    return facts.values_list(*FACTS)


FACTS = ("own", "used", "held", "left_open", "has_periods", "thread_id", "extra_tokens", "budget_notice")
_FACTS = Prepared(_facts)
_OPEN = Prepared(lambda pk: SpendEntry.objects.filter(pk=pk, settled=None))
_UNSETTLED = Prepared(lambda turn: SpendEntry.objects.filter(turn=turn, settled=None))


def _sum(entries: "QuerySet[SpendEntry, Any]", field: str) -> Subquery:
    return Subquery(entries.annotate(sum=Sum(field)).values("sum"))


def _write(turn: Turn, standing: Standing, *, asked: int, output: int, wanted: int, room: int, last_word: bool) -> Permit:
    now = clock.now()
    reserved = with_margin(asked) + with_margin(output)
    entry = SpendEntry(
        root_id=standing.root_id,
        turn=turn,
        round=turn.round,
        attempt=turn.attempt,
        reserved=reserved,
        tokens=asked,
        tenant_id=turn.thread.tenant_id,
        user_id=turn.thread.owner_id,
        assistant_id=turn.thread.assistant_id,
        created=now,
    )
    insert(entry)
    bounded = max(room, with_margin(output)) if standing.cap else 0
    return Permit(entry.pk, reserved, output, bounded, clamped=output < wanted, last_word=last_word)


def _prices(turn: Turn) -> tuple[float, float]:
    try:
        profile = resolve_profile(definition_of(turn.thread), turn.thread)
    except CodedError:
        return 0.0, 0.0
    return profile.input_price, profile.output_price
