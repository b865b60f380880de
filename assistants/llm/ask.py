"""The way to a model for all who want an answer, and the one place that loads what it takes."""

from concurrent.futures import Future

from assistants.llm import loop
from assistants.llm.models import warm_up
from assistants.llm.profile import Profile
from assistants.llm.reply import Reply, Sink
from assistants.llm.request import Message, ToolDefinition


def ask(profile: Profile, messages: list[Message], tools: list[ToolDefinition], sink: Sink) -> Future[Reply]:
    """Has the stream loop ask the model once, as `stream_reply` does; call it from any thread but the loop's.

    Whoever is first to ask after a start waits here until the libraries are loaded, and not every socket on the loop.
    """
    warm_up([profile.provider])
    from assistants.llm.stream import stream_reply

    return loop.submit(stream_reply(profile, messages, tools, sink))
