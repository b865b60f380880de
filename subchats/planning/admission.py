"""The one way to hand work over: what speaks against it is asked in the order of decision 8, then the sub-chats are opened."""

from collections.abc import Sequence
from dataclasses import dataclass

from assistants.models import Assistant
from assistants.models.definition import Definition, define
from assistants.tools.context import ToolContext
from assistants.tools.outcomes import Pending
from assistants.turns.budget import is_exhausted
from subchats.delegation import refusals
from subchats.delegation.delegate import Commission, delegate
from subchats.delegation.limits import check_depth, check_width
from subchats.delegation.roster import delegates_of, get_delegate, grant_tools

from .gate import check_plan


@dataclass(frozen=True)
class Wanted:
    """One task as a model wants it handed over: to a configured assistant by its slug, or (None) to an ad-hoc agent.

    `place` is where it stands in the call's arguments, such as `tasks[1].`, so that a refusal can name it.
    """

    task: str
    context: str = ""
    assistant: str | None = None
    prompt: str = ""
    tools: tuple[str, ...] = ()
    based_on: str = ""
    label: str = ""
    place: str = ""


def hand_over(context: ToolContext, wanted: Sequence[Wanted], *, fan_out: bool = False) -> Pending:
    """Opens a sub-chat for each task, or none of them; a call that is tried again after a crash keeps those it has.

    Raises what `admit` raises.
    """
    return delegate(context, lambda: admit(context, wanted, fan_out=fan_out))


def admit(context: ToolContext, wanted: Sequence[Wanted], *, fan_out: bool) -> list[Commission]:
    """The tasks as they may be handed over now. Malformed arguments were refused before (decision 8, J-12).

    Raises in this order `DEPTH_EXCEEDED`; `DELEGATE_NOT_ALLOWED`, `TOOL_NOT_GRANTABLE` (J-14); `BUDGET_EXHAUSTED` (J-13),
    `SPAWN_LIMIT`, `TREE_LIMIT`; then what the plan says (J-15 to J-17).
    """
    check_depth(context.thread)
    roster = delegates_of(context.definition, context.thread)
    commissions = [_commission(context.definition, each, roster) for each in wanted]
    if is_exhausted(context.turn):
        raise refusals.budget_exhausted()
    check_width(context.turn, len(commissions))
    check_plan(context, [each.assistant for each in commissions], fan_out=fan_out)
    return commissions


def _commission(master: Definition, wanted: Wanted, roster: Sequence[Assistant]) -> Commission:
    if wanted.assistant is None:
        return _for_agent(master, wanted, roster)
    chosen = get_delegate(wanted.assistant, roster, field=f"{wanted.place}assistant")
    return Commission(
        kind="invoke",
        task=wanted.task,
        context=wanted.context,
        instructions=define(chosen).instructions,
        assistant=chosen,
        label=wanted.label,
    )


def _for_agent(master: Definition, wanted: Wanted, roster: Sequence[Assistant]) -> Commission:
    base = define(get_delegate(wanted.based_on, roster, field=f"{wanted.place}based_on")) if wanted.based_on else None
    instructions = f"{base.instructions}\n\n{wanted.prompt}" if base else wanted.prompt
    agent = {
        "name": f"{base.name} (ad hoc)" if base else "Ad-hoc agent",
        "avatar": base.avatar if base else "",
        "prompt": instructions,
        "tools": grant_tools(wanted.tools, master, field=f"{wanted.place}tools"),
        "based_on": wanted.based_on,
        "master": master.assistant_id,
        "profile_id": base.profile_id if base else master.profile_id,
    }
    return Commission(
        kind="spawn",
        task=wanted.task,
        context=wanted.context,
        instructions=instructions,
        agent=agent,
        label=wanted.label,
    )
