"""What a turn's tree and a person's periods have used, as the panel and the page of budgets show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import template
from django.conf import settings

from assistants.conversations.present import Present
from assistants.models import Turn
from assistants.turns import budget
from assistants.turns.periods import Account

register = template.Library()
# From here on the next call may find no room.
CONTEXT_FULL_PERCENT = 95


@dataclass(frozen=True)
class Used:
    """A part of the tree: its tokens and its cost."""

    tokens: int
    cost: Decimal


def turn_budget(present: Present) -> dict[str, Any] | None:
    """What the panel says of the present turn's budget; None before the first turn.

    Every page of a tree shows the same total, which is the sum of its turns (D22): the sums of the turns agree with the
    ledger, call by call.
    """
    turn, top = present.turn, present.top
    if turn is None or top is None:
        return None
    subtree = [each for each in present.below if each.pk == turn.pk or each.thread_id != turn.thread_id]
    total, cap = _sum(present.tree), budget.cap_by(top.thread.assistant, top)
    return {
        "is_tree": len(present.tree) > 1,
        "own": _sum([turn]),
        "subtree": _sum(subtree),
        "total": total,
        "cap": cap,
        "percent": min(total.tokens * 100 // cap, 100) if cap else 0,
        "tone": _tone(total.tokens, budget.NOTICE_PERCENT * cap // 100, cap - budget.reserve_of(cap)) if cap else "leaf",
    }


def context_gauge(present: Present) -> dict[str, Any] | None:
    """How full the model's context window was at the present turn's newest call; None before that, and where the window is
    not known."""
    turn = present.turn
    if turn is None or not turn.prompt_tokens or not turn.context_window:
        return None
    used, window = turn.prompt_tokens, turn.context_window
    tone = _tone(used, window * budget.NOTICE_PERCENT // 100, window * CONTEXT_FULL_PERCENT // 100)
    return {"used": used, "window": window, "percent": min(used * 100 // window, 100), "tone": tone}


@register.simple_tag
def top_up_tokens() -> int:
    """What a person adds at a time to a turn that has used up its tokens."""
    return int(settings.TASKMONKEY["TOP_UP_TOKENS"])


@register.filter
def percent(account: Account) -> int:
    """The used part of a period's budget, at most 100."""
    return min(account.used * 100 // account.limit, 100) if account.limit else 100


@register.filter
def tone(account: Account) -> str:
    """The colour of its bar, beside which the words stand."""
    return "clay" if account.is_used_up else "banana" if account.is_noticed else "leaf"


def _tone(used: int, notice: int, limit: int) -> str:
    return "clay" if used >= limit else "banana" if used >= notice else "leaf"


def _sum(turns: Sequence[Turn]) -> Used:
    return Used(sum(each.input_tokens + each.output_tokens for each in turns), sum((each.cost for each in turns), Decimal(0)))
