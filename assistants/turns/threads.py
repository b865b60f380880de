"""A thread's row, for whoever changes what hangs on it: its lock, its branch's end, what was sent, what goes on, its name."""

from django.db.models import Q

from assistants.models import Message, Thread, Turn
from assistants.models.prepared import Prepared

TITLE_CHARS = 60
_LOCKED = Prepared(lambda pk: Thread.objects.select_for_update(no_key=True).filter(pk=pk))
_THREADS = Prepared(lambda pk: Thread.objects.filter(pk=pk))
_NAMELESS = Prepared(lambda pk: Thread.objects.filter(pk=pk, title=""))
_ENDING_WITH = Prepared(lambda pk, leaf: Thread.objects.filter(Q(leaf=leaf) | Q(leaf=None), pk=pk))
_BY_KEY = Prepared(lambda thread, key: Message.objects.filter(thread=thread, client_key=key))
_GOING = Prepared(lambda thread: Turn.objects.filter(thread=thread).exclude(state__in=Turn.FINAL).order_by("pk"))
_LEAVES = Prepared(lambda thread: Message.objects.filter(pk__in=Thread.objects.filter(pk=thread).values("leaf")))
_NEWEST = Prepared(
    lambda thread: (
        Message.objects.filter(thread=thread, role__in=[Message.Role.USER, Message.Role.ASSISTANT])
        .exclude(state=Message.State.QUEUED)
        .order_by("-sequence")[:1]
    )
)


def lock_thread(thread_id: int) -> Thread:
    """The thread as it stands, which nobody else changes until the transaction ends. Raises `Thread.DoesNotExist`."""
    thread = _LOCKED.first(thread_id)
    if thread is None:
        raise Thread.DoesNotExist(f"thread {thread_id} is gone")
    return thread


def said_with(thread: Thread, client_key: str) -> Message | None:
    """The message that was sent to it with this key (D3)."""
    return _BY_KEY.first(thread.pk, client_key)


def going_in(thread: Thread) -> list[Turn]:
    """The turns that have not ended, the queued ones too, in the order in which they were asked for."""
    return _GOING.rows(thread.pk)


def leaf_of(thread: Thread) -> Message | None:
    """The end of the branch that is shown; where the pointer leads nowhere, the newest message (E2, E3)."""
    return _LEAVES.first(thread.pk) or _NEWEST.first(thread.pk)


def set_leaf(thread_id: int, message: Message | None) -> None:
    """Makes `message` the end of the branch that the page shows."""
    _THREADS.update(thread_id, leaf=message and message.pk)


def extend_branch(message: Message) -> bool:
    """Moves the end of the shown branch on to a new reply, unless a person looks at another branch meanwhile (E4): False."""
    # Without a parent it follows where nothing is shown, or it is the end itself already.
    return _ENDING_WITH.update(message.thread_id, message.parent_id or message.pk, leaf=message.pk) > 0


def name_thread(thread: Thread, text: str) -> None:
    """Gives a new thread the first words of its first message as its title (Z3); a model may find a better one later."""
    words = " ".join(text.split())
    title = words if len(words) <= TITLE_CHARS else words[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
    thread.title, thread.title_by = title, "text"
    _NAMELESS.update(thread.pk, title=title, title_by="text")
