"""Fixtures that every test may use: the two tenants, and turns that run when the test says so."""

import gc

import pytest
from django.conf import settings
from django.utils import translation

from assistants.tools import registry
from tests.kit import turns, world
from tests.kit.sealed import Catcher

pytest_plugins = ["tests.plugins.coroutines"]


def pytest_collection_finish():
    """What was imported and collected until here stays; looking through it for garbage again and again took 7 % of the time."""
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings_xdist_suffix(request):
    """Each test process has a database of its own: in memory it is so anyway, elsewhere its name gets the process's."""
    number = getattr(request.config, "workerinput", {}).get("workerid")
    chosen = settings.DATABASES["default"]
    if number and "sqlite" not in chosen["ENGINE"]:
        chosen.setdefault("TEST", {})["NAME"] = f"test_{chosen['NAME']}_{number}"


@pytest.fixture
def ground(db):
    """Alice and Bob in one tenant, Charlie in another, each with an assistant that follows a script."""
    return world.build()


@pytest.fixture
def catcher(ground):
    """Catches what `send` lets out; it always asks first. `note` does not ask by itself. Both are forgotten afterwards."""
    known = dict(registry._tools)
    made = Catcher()
    made.declare("send", effect="once", sends_out=True, approval=True)
    made.declare("note")
    yield made
    registry._tools.clear()
    registry._tools.update(known)


@pytest.fixture(autouse=True)
def forget_the_language():
    """A page that a test asks for leaves its reader's language behind, where requests have no thread of their own."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def forget_rung_turns():
    turns.forget()
    yield
    turns.forget()
