"""Tools that are caught, and forgotten after each test."""

from collections.abc import Iterator

import pytest

from assistants.tools import registry
from tests.kit.sealed import Catcher


@pytest.fixture
def catcher(ground) -> Iterator[Catcher]:
    """Catches what `send` lets out; it always asks first. `note` does not ask by itself."""
    known = dict(registry._tools)
    made = Catcher()
    made.declare("send", effect="once", sends_out=True, approval=True)
    made.declare("note")
    yield made
    registry._tools.clear()
    registry._tools.update(known)
