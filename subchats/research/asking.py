"""Runs one whole research outside of a server, from the question to its results, and cleans up after it (A-05, A-15)."""

from dataclasses import dataclass
from time import sleep as rest

from assistants import clock
from assistants.errors import CodedError
from assistants.models import Assistant, ToolCall, Turn, User
from assistants.turns import executors
from assistants.turns.claims import holder_name, renew
from assistants.turns.lifecycle import open_thread, stop_turn
from subchats.models import Delegation, ExplorerTask, ResearchRun

from . import run_log
from .health import CATEGORIES, category_of

LOOK_SECONDS = 0.1
BEAT_SECONDS = 2.0
# Nobody sits there who could answer a question or approve a call; so long a tree may rest before it is given up.
REST_SECONDS = 10.0
HINTED = frozenset({"model_resolution", "subagent_failed", "auth_missing", "provider_unreachable", "timeout"})
"""The failures of a search that a health check can explain (A-42)."""
NOT_SENT = ("EXPLORER_CHANGED", "EXPLORER_DISABLED")
KNOWN = {
    "research:tools": "subagent_failed",
    **dict.fromkeys(NOT_SENT, "subagent_failed"),
    "PROFILE_KEY_UNREADABLE": "auth_missing",
    "limit:time": "timeout",
}


@dataclass(eq=False)
class SearchFailed(CodedError):
    """A search without results. `category` is one of the health check's, or empty for what such a check can't explain."""

    category: str = ""

    @property
    def hint(self) -> bool:
        return self.category in HINTED


def ask(query: str, *, assistant: Assistant, asker: User, seconds: float) -> ResearchRun:
    """Opens a conversation in the asker's name and carries it on until its research has ended. `query` is not blank.

    A server that runs as well may do part of the work: each turn's lease decides. Raises `SearchFailed`. Whatever is still
    at work afterwards is stopped, and what goes wrong with that changes nothing about the outcome (A-15).
    """
    thread = open_thread(assistant, owner=asker, text=query)
    turn = thread.turns.get()
    try:
        _wait(turn, seconds)
        run = ResearchRun.objects.filter(turn=turn).first()
        if turn.state == Turn.State.DONE and run is not None and run.finished is not None:
            return run
        raise _failure(turn, run)
    finally:
        _clean_up(turn)


def _wait(turn: Turn, seconds: float) -> None:
    """Until the turn has ended. Raises `SearchFailed` when the time is up, or nothing can go on without a person."""
    begun = moved = beaten = clock.monotonic()
    while True:
        turn.refresh_from_db()
        if turn.is_final:
            return
        now = clock.monotonic()
        if now - begun > seconds:
            raise SearchFailed(
                code="SEARCH_TIMEOUT",
                message=f"There was no result within {seconds:g} seconds.",
                fix="Give it more time with --timeout.",
                category="timeout",
            )
        if now - beaten > BEAT_SECONDS:
            # There is no engine here that keeps the leases of this process alive.
            renew(holder_name())
            beaten = now
        if _carry_on(turn):
            moved = now
        elif now - moved > REST_SECONDS:
            paused = turn.note if turn.state == Turn.State.PAUSED else ""
            raise SearchFailed(
                code="SEARCH_WAITS",
                message=paused or "It waits for a person: for an answer, or for a call to be approved.",
                fix=f"Open the conversation in the browser: /c/{turn.thread.chat_id}/.",
            )
        rest(LOOK_SECONDS)


def _carry_on(turn: Turn) -> bool:
    """Rings for whatever nobody works on; whether anything is at work or will be."""
    tree = Turn.objects.active().filter(thread__root=turn.thread_id) | Turn.objects.active().filter(pk=turn.pk)
    for turn_id in Turn.objects.runnable(clock.now()).filter(pk__in=tree.values("pk")).values_list("pk", flat=True):
        executors.enqueue(turn_id)
    # A pause without an end is one that only a person ends, such as that of a used-up budget.
    return tree.exclude(state=Turn.State.WAITING).exclude(state=Turn.State.PAUSED, wake_at=None).exists()


def _failure(turn: Turn, run: ResearchRun | None) -> SearchFailed:
    return SearchFailed(
        code="SEARCH_FAILED",
        message=turn.note or f"The research ended without results ({turn.reason or turn.state}).",
        category=_category(turn, run),
    )


def _category(turn: Turn, run: ResearchRun | None) -> str:
    """What of a health check would show it, or nothing: a search that found nothing is no fault of the set-up."""
    if turn.reason in KNOWN:
        return KNOWN[turn.reason]
    if turn.reason.startswith("MODEL_"):
        return category_of(turn.reason)
    if run is None or run.tasks.filter(state=ExplorerTask.State.GROUNDED).exists():
        return ""
    if not run.tasks.exists():
        refused = turn.calls.filter(name="subagent", outcome=ToolCall.Outcome.REFUSED, code__in=NOT_SENT)
        return "subagent_failed" if refused.exists() else ""
    reasons = [_reason_of(each) for each in Delegation.objects.filter(call__turn=turn, kind=Delegation.Kind.EXPLORE)]
    if not all(reason.startswith("MODEL_") for reason in reasons):
        return ""
    found = {category_of(reason, "explorer") for reason in reasons}
    return next((each for each in CATEGORIES if each in found), "")


def _reason_of(delegation: Delegation) -> str:
    last = Turn.objects.filter(thread=delegation.child_id).order_by("-pk").first()
    return last.reason if last else ""


def _clean_up(turn: Turn) -> None:
    """Stops what is left of the tree, one by one; each failure is counted in the log and hides nothing (A-15)."""
    failures: list[str] = []
    try:
        left = list(Turn.objects.active().filter(thread__root=turn.thread_id).order_by("-pk").values_list("pk", flat=True))
    except Exception as error:
        left, failures = [], [type(error).__name__]
    for turn_id in (turn.pk, *left):
        try:
            stop_turn(turn_id, by="the command line", reason="command")
        except Exception as error:
            failures.append(type(error).__name__)
    if failures:
        run = ResearchRun.objects.filter(turn=turn).first()
        run_log.log_event("cleanup_failed", run, failureCount=len(failures), errorTypes=sorted(set(failures)))
