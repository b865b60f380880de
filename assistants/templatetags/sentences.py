"""Notes and refusals of the platform, which are stored in English, in the reader's language."""

from django import template

from assistants import sentences

register = template.Library()


@register.filter
def spoken(text: str) -> str:
    """The text in the reader's language where it is one of the platform's sentences."""
    return sentences.spoken(text)
