"""Where the rows of a table may come from: only what can be looked up in the record."""

from collections.abc import Collection, Sequence

from assistants.errors import CodedError
from assistants.models import Message, Thread, ToolCall, Turn

PERSON = "person"
NAMED = 20


def check_sources(thread: Thread, named: Sequence[str], *, ignored: Collection[str]) -> list[str]:
    """The sources that were named, each once, in their order (section 6).

    A source is the `sub_chat_id` of a sub-chat of this conversation that has answered, the name of a tool that gave this
    assistant a result here (`ignored` are tools that bring nothing in), or `person` for what a person wrote here.
    Raises `TABLE_SOURCE_UNKNOWN`, which names those there are.
    """
    wanted = list(dict.fromkeys(named))
    known = known_sources(thread, ignored=ignored)
    for place, source in enumerate(wanted):
        if source not in known:
            raise CodedError(
                code="TABLE_SOURCE_UNKNOWN",
                field=f"sources.{place}",
                message=f"Nothing in this conversation is named “{source[:80]}”. There is: {_listed(known)}.",
                fix="Name where the rows came from, exactly as listed; get them first if you have none.",
            )
    return wanted


def known_sources(thread: Thread, *, ignored: Collection[str]) -> list[str]:
    """All that may be named now: the sub-chats in the order of their making, then tools by name, then `person`."""
    answered = Turn.objects.filter(thread__root=thread.root_id_or_own, state__in=Turn.FINAL).values("thread")
    found = list(Thread.objects.filter(pk__in=answered).order_by("pk").values_list("chat_id", flat=True))
    calls = ToolCall.objects.filter(turn__thread=thread, outcome=ToolCall.Outcome.OK).exclude(name__in=ignored)
    found += calls.order_by("name").values_list("name", flat=True).distinct()
    said = Message.objects.filter(thread=thread, role=Message.Role.USER)
    if (said if thread.parent_id is None else said.exclude(author=None)).exists():
        found.append(PERSON)
    return found


def _listed(known: Sequence[str]) -> str:
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return (", ".join(known[:NAMED]) or "nothing yet") + more
