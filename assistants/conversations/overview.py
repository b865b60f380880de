"""Every conversation at a glance: which one works, which waits for its owner, which has news."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Max, Q, QuerySet

from assistants.access import Actor, owns, readable_by, threads_for
from assistants.models import Thread, ThreadShare, ToolCall, Turn, User
from assistants.models.prepared import Prepared
from assistants.models.turn import ENDINGS
from assistants.turns.calls import QUESTION_TOOL

MAX_LISTED = 100

# What a conversation can say in the list, the most urgent first.
ANSWER, WORKING, UNREAD, QUIET = "answer", "working", "unread", ""
URGENCY = (ANSWER, WORKING, UNREAD, QUIET)
# Why a sub-chat's turn failed when it was neither its own nor its model's fault.
CUT_OFF = frozenset({"limit:idle", "limit:wall", "limit:budget"})
# A question at the end of the shown branch that nobody has answered.
QUESTION = Q(name=QUESTION_TOOL, outcome=ToolCall.Outcome.OK, answer__isnull=True, message=F("turn__thread__leaf"))


@dataclass(frozen=True)
class Facts:
    """What the record says about some threads, by their ids.

    `active` has the state of the running turn, `asking` those that wait for a person, `news` those with something
    that their owner has not seen, `outcomes` how the last turn ended, as `ending_of` says.
    """

    active: dict[int, str]
    asking: frozenset[int]
    news: frozenset[int]
    outcomes: dict[int, str]

    def state_of(self, *threads: Thread) -> str:
        """The most urgent thing that these threads have to say together: answer, working, unread, or nothing."""
        return min((self._state(thread.pk) for thread in threads), key=URGENCY.index, default=QUIET)

    def _state(self, thread_id: int) -> str:
        if thread_id in self.asking:
            return ANSWER
        if thread_id in self.active:
            return WORKING
        return UNREAD if thread_id in self.news else QUIET


@dataclass(frozen=True)
class Listing:
    """The list of conversations: the roots in their order, and everything under each one."""

    roots: tuple[Thread, ...]
    below: dict[int, tuple[Thread, ...]]
    facts: Facts


def list_conversations(actor: Actor, current: Thread | None = None) -> Listing:
    """What the actor may read: pinned ones first, then the newest; six queries, however many.

    Only the actor's own conversations ask for an answer or have news. The one that is looked at right now (`current`)
    is listed in any case, and has no news.
    """
    here = current.root_id_or_own if current else 0
    roots = _LISTED.rows(actor.pk) if isinstance(actor, User) else list(_listed(threads_for(actor)))
    if here and here not in {each.pk for each in roots}:
        roots += threads_for(actor).filter(parent=None, pk=here).select_related("assistant")
    below: dict[int, list[Thread]] = {}
    for each in _BELOW.rows([root.pk for root in roots]):
        below.setdefault(each.root_id_or_own, []).append(each)
    own = {root.pk for root in roots if owns(actor, root)}
    everything = [each for root in roots for each in (root, *below.get(root.pk, ()))]
    facts = facts_of(everything, own=own, looked_at=current.pk if current else 0)
    return Listing(tuple(roots), {root: tuple(threads) for root, threads in below.items()}, facts)


def _listed(readable: "QuerySet[Thread]") -> "QuerySet[Thread]":
    found = readable.filter(parent=None, archived=False).select_related("assistant")
    return found.order_by("-pinned", "-updated")[:MAX_LISTED]


def facts_of(threads: Sequence[Thread], *, own: Collection[int], looked_at: int = 0) -> Facts:
    """Three queries, however many threads. `own` has the roots whose trees may ask for an answer and have news."""
    ids = [each.pk for each in threads]
    mine = [each for each in threads if each.root_id_or_own in own]
    states = _STATES.rows(ids)
    ended = {thread: ending_of(state, reason) for thread, state, reason in states if state in Turn.FINAL}
    asking = set(_ASKING.rows(ids))
    return Facts(
        active={thread: state for thread, state, _ in states if state in Turn.ACTIVE},
        asking=frozenset(each.pk for each in mine if each.pk in asking),
        news=frozenset(each.pk for each in mine if has_news(each) and each.pk != looked_at),
        outcomes=ended,
    )


def ending_of(state: str, reason: str) -> str:
    """How a turn ended, by the name of its look: its state, or handed_back, or stopped with what it asked, or cut_off by the
    watchdog or the budget. A question is told where it waits, and not here."""
    if state == Turn.State.DONE:
        return state if reason == "question" else ENDINGS.get(reason, state)
    return "cut_off" if state == Turn.State.FAILED and reason in CUT_OFF else state


def waiting_calls() -> QuerySet[ToolCall]:
    """Calls that wait for a person: a question at the end of the shown branch, an approval, an outcome nobody knows (F06)."""
    held = Q(needs_decision=True) | Q(approval__state="asked")
    return ToolCall.objects.filter(QUESTION | (held & Q(state=ToolCall.State.OPEN)))


def waiting_below(thread: Thread) -> QuerySet[ToolCall]:
    """Those that wait for a person anywhere below this conversation (decision 7)."""
    # A sub-chat's id holds the ids of all above it.
    below = waiting_calls().filter(
        turn__thread__root=thread.root_id_or_own, turn__thread__chat_id__contains=f"_{thread.chat_id}_"
    )
    return below.select_related("turn__thread__assistant")


def has_news(thread: Thread) -> bool:
    """Whether something was said since its owner's page last showed it. A sub-chat counts once it has been opened."""
    return thread.last_news > thread.seen_event and (thread.parent_id is None or thread.seen_event > 0)


def _states(threads: Any) -> "QuerySet[Turn, tuple[int, str, str]]":
    turns = Turn.objects.filter(thread__pk__in=threads)
    newest = turns.exclude(state=Turn.State.QUEUED).values("thread").annotate(newest=Max("pk")).values("newest")
    told = turns.filter(Q(pk__in=newest) | Q(state__in=Turn.ACTIVE)).values_list("thread_id", "state", "reason")
    return told.order_by("pk")


def _foremost(user: Any) -> "QuerySet[Thread]":
    """The first of a user's own by their index, and what others share with them: not all that they may read is sorted."""
    readable = readable_by(user)
    own = readable.filter(owner=user, parent=None, archived=False).order_by("-pinned", "-updated")
    shared = ThreadShare.objects.filter(user=user).values("thread_id")
    return readable.filter(Q(pk__in=own.values("pk")[:MAX_LISTED]) | Q(pk__in=shared))


_LISTED = Prepared(lambda user: _listed(_foremost(user)))
_BELOW = Prepared(lambda roots: Thread.objects.filter(root__pk__in=roots).select_related("assistant").order_by("pk"))
_STATES = Prepared(_states)
_ASKING = Prepared(
    lambda threads: waiting_calls().filter(turn__thread__pk__in=threads).values_list("turn__thread_id", flat=True)
)
