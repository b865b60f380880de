"""How deep and how wide a tree of delegations may grow; always counted from the record, never from an argument."""

from django.conf import settings

from assistants.models import Thread, Turn
from subchats.models import Delegation

from . import refusals


def depth_of(thread: Thread) -> int:
    """The hops from this thread up to its root: 0 for a conversation of one's own (T-11)."""
    depth = 0
    while thread.parent_id is not None:
        thread = Thread.objects.get(chat_id=thread.parent_id)
        depth += 1
    return depth


def check_depth(thread: Thread) -> None:
    """Raises `DEPTH_EXCEEDED` when a child of this thread would be below the lowest level."""
    depth = depth_of(thread)
    if depth >= settings.TASKMONKEY["MAX_DEPTH"]:
        raise refusals.too_deep(depth)


def check_width(turn: Turn) -> None:
    """Raises `SPAWN_LIMIT` or `TREE_LIMIT` when this turn, or the whole tree it belongs to, has enough sub-chats."""
    per_turn = settings.TASKMONKEY["MAX_SPAWNS_PER_TURN"]
    if Delegation.objects.filter(call__turn=turn).count() >= per_turn:
        raise refusals.too_many_spawns(per_turn)
    per_tree = settings.TASKMONKEY["MAX_AGENTS_PER_TREE"]
    root = turn.root_id or turn.pk
    if Turn.objects.filter(root=root).values("thread").distinct().count() + 1 >= per_tree:
        raise refusals.too_many_agents(per_tree)
