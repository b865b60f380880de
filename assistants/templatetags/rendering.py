"""Template filters of the one rendering path."""

from django import template
from django.utils.safestring import SafeString

from assistants.models import Message, Thread
from assistants.rendering.citations import Citations
from assistants.rendering.markdown import render_markdown
from assistants.rendering.plain import render_plain
from assistants.rendering.stream import Cursor, MarkdownStream

register = template.Library()


@register.filter
def plain(text: str) -> SafeString:
    """A person's own text exactly as typed."""
    return render_plain(text)


@register.filter
def markdown(text: str, citations: Citations | None = None) -> SafeString:
    """A finished reply as a whole, with links behind the numbers that it cites."""
    return render_markdown(text, citations)


@register.filter
def blocks(text: str) -> list[SafeString]:
    """A growing reply as its Markdown blocks, in the same cut as they are streamed."""
    stream = MarkdownStream()
    stream.update(text)
    return [html for _, html in stream.frames(Cursor())[0]]


@register.filter
def order(sequence: int) -> str:
    """A message's place in the log, as a text that sorts like the number."""
    return f"{sequence:08d}"


@register.filter
def is_answer(message: Message) -> bool:
    """Whether a person's message is the answer to a question, given by its card."""
    return any(part.get("type") == "answer" for part in message.parts)


@register.filter
def system_prompt(thread: Thread) -> str:
    """What a sub-chat was told before its task; empty for a conversation of one's own."""
    message = thread.messages.filter(role=Message.Role.SYSTEM).order_by("sequence").first()
    return message.text if message else ""
