"""The turn that a conversation is about at the moment, with everything that works for the same request."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from assistants.models import Thread, Turn
from assistants.models.prepared import Prepared


@dataclass(frozen=True)
class Present:
    """`turn` is the one at work, else the last one, and None before the first; `tree` are all turns of its request, oldest
    first, each with its thread and assistant."""

    thread: Thread
    turn: Turn | None
    tree: tuple[Turn, ...] = ()

    @property
    def top(self) -> Turn | None:
        """The turn that the request began with."""
        return next((each for each in self.tree if self.turn and each.pk == (self.turn.root_id or self.turn.pk)), self.turn)

    @property
    def below(self) -> tuple[Turn, ...]:
        """The turns of this conversation and of those under it."""
        # A sub-chat's id holds the ids of all above it.
        mark = f"_{self.thread.chat_id}_"
        return tuple(each for each in self.tree if each.thread_id == self.thread.pk or mark in each.thread.chat_id)


def present_of(thread: Thread) -> Present:
    """What the panel beside the conversation tells of; one query."""
    tree = tuple(_TREES.rows(thread.pk))
    own = [each for each in tree if each.thread_id == thread.pk and each.state != Turn.State.QUEUED]
    return Present(thread, own[-1], tree) if own else Present(thread, None)


def _tree(thread: Any) -> "QuerySet[Turn]":
    begun = Turn.objects.filter(thread=thread).exclude(state=Turn.State.QUEUED).order_by("-pk")
    top = begun.annotate(top=Coalesce("root_id", "pk")).values("top")[:1]
    return Turn.objects.filter(Q(pk=top) | Q(root=top)).select_related("thread__assistant").order_by("pk")


_TREES = Prepared(_tree)
