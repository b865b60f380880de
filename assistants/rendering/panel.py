"""The sections of the panel beside a conversation; an upper app registers its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assistants.conversations.present import Present


@dataclass(frozen=True)
class Section:
    """A template, and what it shows of the present turn and its thread; a context of None leaves the section out."""

    order: int
    template: str
    context: Callable[[Present], dict[str, Any] | None]


_sections: dict[str, Section] = {}


def register_section(template: str, context: Callable[[Present], dict[str, Any] | None], *, order: int) -> None:
    """Adds a section; those of a lower order stand further up: plan 10, timeline 30, workflow 40, budget 50."""
    _sections[template] = Section(order, template, context)


def sections() -> list[Section]:
    return sorted(_sections.values(), key=lambda each: each.order)
