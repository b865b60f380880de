"""How deep and how wide a tree of delegations may grow; always counted from the record, never from an argument."""

from django.conf import settings

from assistants.models import Thread, Turn
from assistants.models.prepared import Prepared
from subchats.models import Delegation

from . import refusals

_ABOVE = Prepared(lambda chat: Thread.objects.filter(chat_id=chat).values_list("parent_id", flat=True))
_AT_WORK = Prepared(lambda turn: Delegation.objects.filter(call__turn=turn, returned_at=None).values_list("pk", flat=True))
_AGENTS = Prepared(lambda root: Turn.objects.filter(root=root).values_list("thread", flat=True).distinct())


def depth_of(thread: Thread) -> int:
    """The hops from this thread up to its root: 0 for a conversation of one's own (T-11)."""
    depth, above = 0, thread.parent_id
    while above is not None:
        depth, above = depth + 1, _ABOVE.first(above)
    return depth


def may_go_deeper(thread: Thread) -> bool:
    """Whether a child of this thread would still be above the lowest level."""
    return depth_of(thread) < int(settings.TASKMONKEY["MAX_DEPTH"])


def check_depth(thread: Thread) -> None:
    """Raises `DEPTH_EXCEEDED` when a child of this thread would be below the lowest level."""
    depth = depth_of(thread)
    if depth >= settings.TASKMONKEY["MAX_DEPTH"]:
        raise refusals.too_deep(depth)


def check_width(turn: Turn, new: int = 1) -> None:
    """Raises `SPAWN_LIMIT` when this turn would have too many sub-chats at work at once, `TREE_LIMIT` when too many
    assistants would have worked in the whole tree; each child of a fan-out counts (decision 4, S28)."""
    per_turn = settings.TASKMONKEY["MAX_SPAWNS_PER_TURN"]
    running = len(_AT_WORK.rows(turn.pk))
    if running + new > per_turn:
        raise refusals.too_many_at_once(running, per_turn)
    per_tree = settings.TASKMONKEY["MAX_AGENTS_PER_TREE"]
    root = turn.root_id or turn.pk
    if 1 + len(_AGENTS.rows(root)) + new > per_tree:
        raise refusals.too_many_agents(per_tree)
