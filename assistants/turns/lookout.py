"""Looks into the database for what hints from other processes missed: changed threads, and text where Redis is silent (D1)."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import Max, Q, Sum

from assistants import clock
from assistants.models import Message, Thread, Turn

from . import hub, live
from .claims import silent_turns

# A growing reply of another process that nothing was heard of for so many seconds is read from the record.
SILENT_SECONDS = 2.0


class Lookout:
    """Compares what is watched in this process with the record, and wakes whoever missed something.

    Costs at most five queries a look, however many watch.
    """

    def __init__(self) -> None:
        self._seen: dict[str, object] = {}
        self._heard: dict[int, tuple[str, int, float]] = {}

    def look(self) -> int:
        """One look; gives how many topics were woken. One that is seen for the first time is: something may have changed
        since its watcher read it."""
        topics: dict[str, list[int]] = {}
        for topic in hub.watched():
            kind, _, number = topic.partition(":")
            topics.setdefault(kind, []).append(int(number))
        now: dict[str, object] = {}
        for kind, state in (("thread", _threads), ("tree", _trees), ("user", _people)):
            now |= {f"{kind}:{pk}": value for pk, value in state(topics.get(kind, ()))}
        changed = [topic for topic, value in now.items() if topic not in self._seen or self._seen[topic] != value]
        self._seen = now
        for topic in changed:
            hub.wake(topic)
        self._read_along(topics.get("text", ()))
        return len(changed)

    def _read_along(self, threads: Sequence[int]) -> None:
        """Text that nobody tells of is shown as it was saved, at most a second old and a look late."""
        self._heard = {thread: heard for thread in threads if (heard := self._heard.get(thread))}
        silent = [thread for thread in threads if self._is_silent(thread)]
        if not silent:
            return
        thinking = Turn.objects.filter(state=Turn.State.THINKING, thread__in=silent).values("thread")
        growing = Message.objects.filter(thread__in=thinking, state=Message.State.STREAMING).select_related("thread")
        found = {message.thread_id: message for message in growing}
        for thread in silent:
            copy = live.current(thread)
            if thread not in found:
                if copy and copy.is_copy:
                    live.end(copy)
            elif copy is None or copy.is_copy:
                _follow(found[thread], copy)

    def _is_silent(self, thread: int) -> bool:
        copy, now = live.current(thread), clock.monotonic()
        if copy and not copy.is_copy:
            return False
        state = (copy.run, copy.version) if copy else ("", 0)
        run, version, since = self._heard.get(thread, ("", -1, now))
        if (run, version) != state:
            self._heard[thread] = (*state, now)
            return False
        return now - since >= SILENT_SECONDS


def _follow(message: Message, copy: live.LiveReply | None) -> None:
    if copy is None or copy.message_id != message.pk:
        copy = live.LiveReply(message.thread_id, message.thread.root_id_or_own, message.pk, message.sequence, is_copy=True)
        live.keep_copy(copy)
    has = copy.text
    if message.text.startswith(has) and len(message.text) > len(has):
        copy.follow(message.text[len(has) :])


def _threads(pks: Sequence[int]) -> list[tuple[int, int]]:
    return list(Thread.objects.filter(pk__in=pks).values_list("pk", "last_event")) if pks else []


def _trees(pks: Sequence[int]) -> list[tuple[int, tuple[int | None, int]]]:
    """By the events of everything below a root, which only grow in number, and by how many of its turns fell silent."""
    if not pks:
        return []
    below = Thread.objects.filter(root__in=pks).values_list("root").annotate(total=Sum("last_event"))
    totals = dict(below)
    tops = silent_turns().filter(Q(thread__in=pks) | Q(thread__root__in=pks)).values_list("thread__root", "thread")
    silent = Counter(root or thread for root, thread in tops)
    return [(pk, (totals.get(pk), silent[pk])) for pk in totals.keys() | silent.keys()]


def _people(pks: Sequence[int]) -> list[tuple[int, object]]:
    """By their newest message; a list of conversations that changed otherwise is drawn with the next hint."""
    return list(Thread.objects.filter(owner__in=pks).values_list("owner").annotate(newest=Max("updated"))) if pks else []
