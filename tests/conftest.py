"""Fixtures that every test may use: the two tenants, and turns that run when the test says so."""

import pytest

from tests.kit import turns, world

pytest_plugins = ["tests.plugins.coroutines"]


@pytest.fixture
def ground(db):
    """Alice and Bob in one tenant, Charlie in another, each with an assistant that follows a script."""
    return world.build()


@pytest.fixture(autouse=True)
def forget_rung_turns():
    turns.forget()
    yield
    turns.forget()
