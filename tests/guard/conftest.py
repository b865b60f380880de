"""Tools that exist for one test only, and a folder of documents."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assistants.documents import indexing
from assistants.models import DocumentRoot
from assistants.tools import registry


@pytest.fixture
def declare(ground) -> Iterator[Callable[..., Any]]:
    """Declares a function as a tool of the lead, like the decorator; forgotten after the test."""
    known = dict(registry._tools)

    def register(function: Callable[..., Any], **declared: Any) -> registry.Tool:
        registry.tool(**{"in_transaction": True, **declared})(function)
        ground.lead.tools = [*ground.lead.tools, function.__name__]
        ground.lead.save()
        return registry.find_tool(function.__name__)

    yield register
    registry._tools.clear()
    registry._tools.update(known)


@pytest.fixture
def folder(ground, tmp_path) -> Path:
    """The apes' handbook; the lead may search and read it."""
    indexing.forget_checks()
    DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(tmp_path))
    ground.lead.tools = ["search_documents", "read_document", "invoke_assistant", "spawn_agent"]
    ground.lead.save()
    return tmp_path
