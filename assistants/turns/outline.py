"""How a thread's messages hang together: the branch that is shown, and what stands beside each message on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from assistants.models import Message
from assistants.models.prepared import Prepared

# Messages that a page holds at first; older ones come on demand (X8).
PAGE_ENTRIES = 40
# Beyond every number of a message.
END = 2**31 - 1


class Place(NamedTuple):
    """Where a message stands: what it follows (None: it is a beginning), and its place in the order of acceptance."""

    pk: UUID
    parent: UUID | None
    sequence: int
    role: str
    turn: int | None


@dataclass(frozen=True)
class Siblings:
    """A message among those that follow the same one: `position` counts from 1, `ids` are in the order of writing."""

    position: int
    ids: tuple[UUID, ...]

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def previous(self) -> UUID | None:
        return self.ids[self.position - 2] if self.position > 1 else None

    @property
    def next(self) -> UUID | None:
        return self.ids[self.position] if self.position < len(self.ids) else None


@dataclass(frozen=True)
class Window:
    """Neighbouring messages of the branch `path`. `older` and `newer` are the numbers of those just outside, if any."""

    path: tuple[Place, ...]
    places: tuple[Place, ...]
    older: int | None = None
    newer: int | None = None


class Outline:
    """The tree of one thread's messages, or the end of one branch with what stands beside it, without their texts."""

    def __init__(self, places: Iterable[Place], leaf: UUID | None) -> None:
        self.places = {place.pk: place for place in places}
        # Most messages follow alone, so only those that don't get a list.
        first: dict[UUID | None, Place] = {}
        self._beside: dict[UUID | None, list[Place]] = {}
        for place in self.places.values():
            if (other := first.setdefault(place.parent, place)) is not place:
                self._beside.setdefault(place.parent, [other]).append(place)
        newest = max(self.places.values(), key=lambda place: place.sequence, default=None)
        # A pointer that leads nowhere must not make the conversation unreadable (E2, E3).
        self.leaf = leaf if leaf in self.places else newest.pk if newest else None
        self.path = self.path_to(self.leaf)

    def path_to(self, pk: UUID | None) -> tuple[Place, ...]:
        """The branch from its first message down to this one."""
        path: list[Place] = []
        place = self.places.get(pk) if pk else None
        while place is not None and len(path) <= len(self.places):
            path.append(place)
            place = self.places.get(place.parent) if place.parent else None
        return tuple(reversed(path))

    def shows(self, pk: UUID | None) -> bool:
        """Whether the message is on the branch that is shown."""
        return any(place.pk == pk for place in self.path)

    def siblings(self, pk: UUID) -> Siblings:
        """The message and those that stand in its stead on other branches."""
        place = self.places.get(pk)
        if place is None:
            return Siblings(1, (pk,))
        beside = sorted(self._beside.get(place.parent, [place]), key=lambda each: each.sequence)
        ids = tuple(each.pk for each in beside if each.role == place.role)
        return Siblings(ids.index(pk) + 1, ids)

    def newest_below(self, pk: UUID) -> UUID:
        """The end of the newest branch that leads through this message."""
        below = {pk}
        newest = self.places[pk]
        # A reply is always accepted after what it follows, so one pass in that order finds everything below.
        for place in sorted(self.places.values(), key=lambda each: each.sequence):
            if place.parent in below:
                below.add(place.pk)
                newest = place
        return newest.pk

    def at(self, sequence: int) -> Place | None:
        """The message with this number."""
        return next((place for place in self.places.values() if place.sequence == sequence), None)


def outline_of(thread_id: int) -> Outline:
    """Reads the whole tree. Messages that wait in the queue, system prompts and tool results have no place in it."""
    found = _ALL.rows(thread_id)
    return Outline((Place._make(row[1:]) for row in found), found[0][0] if found else None)


def end_of_branch(thread_id: int, *, before: int = END, count: int = PAGE_ENTRIES) -> Outline:
    """Reads the shown branch from its end back to `count` messages older than number `before`, and one more, which says
    that there are older ones; what stands beside these too. It costs what it reads, however long the thread.
    """
    with connection.cursor() as cursor:
        cursor.execute(_END_OF_BRANCH, {"thread": thread_id, "before": before, "count": count})
        found = cursor.fetchall()
    key = Message._meta.pk.to_python
    places = {Place(key(pk), key(parent), *rest): is_shown for is_shown, pk, parent, *rest in found}
    leaf = max((place for place in places if places[place]), key=lambda place: place.sequence, default=None)
    return Outline(places, leaf.pk if leaf else None)


_ALL = Prepared(
    lambda thread: (
        Message.objects.filter(thread=thread, role__in=[Message.Role.USER, Message.Role.ASSISTANT])
        .exclude(state=Message.State.QUEUED)
        .values_list("thread__leaf", "pk", "parent_id", "sequence", "role", "turn_id")
    )
)
_HAS_A_PLACE = (
    f"each.thread_id = %(thread)s AND each.role IN ('{Message.Role.USER}', '{Message.Role.ASSISTANT}')"
    f" AND each.state <> '{Message.State.QUEUED}'"
)
# From the leaf (or the newest message, if the pointer leads nowhere) upwards, which is always towards lower numbers; then
# all that follow the same messages as those on the way, and at the top the other beginnings.
_END_OF_BRANCH = f"""
WITH RECURSIVE branch (id, parent_id, sequence, older) AS (
    SELECT each.id, each.parent_id, each.sequence, CASE WHEN each.sequence < %(before)s THEN 1 ELSE 0 END
    FROM assistants_message each WHERE each.id = COALESCE(
        (SELECT each.id FROM assistants_thread JOIN assistants_message each ON each.id = leaf_id
         WHERE assistants_thread.id = %(thread)s AND {_HAS_A_PLACE}),
        (SELECT each.id FROM assistants_message each WHERE {_HAS_A_PLACE} ORDER BY sequence DESC LIMIT 1))
    UNION ALL
    SELECT each.id, each.parent_id, each.sequence, older + CASE WHEN each.sequence < %(before)s THEN 1 ELSE 0 END
    FROM branch JOIN assistants_message each ON each.id = branch.parent_id
    WHERE older <= %(count)s AND each.sequence < branch.sequence AND {_HAS_A_PLACE}
)
SELECT each.id = branch.id, each.id, each.parent_id, each.sequence, each.role, each.turn_id
FROM branch JOIN assistants_message each ON each.parent_id = branch.parent_id WHERE {_HAS_A_PLACE}
UNION ALL
SELECT each.id IN (SELECT id FROM branch), each.id, each.parent_id, each.sequence, each.role, each.turn_id
FROM assistants_message each
WHERE EXISTS (SELECT 1 FROM branch WHERE parent_id IS NULL) AND each.parent_id IS NULL AND {_HAS_A_PLACE}
"""


def whole(path: tuple[Place, ...]) -> Window:
    """All of a branch."""
    return _window(path, 0, len(path))


def newest(path: tuple[Place, ...], count: int = PAGE_ENTRIES) -> Window:
    """The end of a branch."""
    start = max(len(path) - count, 0)
    return _window(path, start, len(path))


def before(path: tuple[Place, ...], sequence: int, count: int = PAGE_ENTRIES) -> Window:
    """The stretch of a branch that ends just before this number."""
    end = sum(1 for place in path if place.sequence < sequence)
    return _window(path, max(end - count, 0), end)


def around(path: tuple[Place, ...], sequence: int, count: int = PAGE_ENTRIES) -> Window:
    """The stretch of a branch in which the message with this number stands near the top."""
    at = sum(1 for place in path if place.sequence < sequence)
    start = max(min(at - count // 5, len(path) - count), 0)
    return _window(path, start, min(start + count, len(path)))


def _window(path: tuple[Place, ...], start: int, end: int) -> Window:
    return Window(
        path=path,
        places=path[start:end],
        older=path[start - 1].sequence if 0 < start <= len(path) else None,
        newer=path[end].sequence if end < len(path) else None,
    )
