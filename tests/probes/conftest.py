"""The ground of the probes: what Alice has, and everybody who would like to have it."""

from collections.abc import Iterator

import pytest
from django.db import transaction

from tests.kit import turns, world
from tests.probes import town


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker) -> Iterator[town.Town]:
    """The town, built once for all tests of a file, since it takes longer than they do."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield town.build(world.build())
        transaction.set_rollback(True)


@pytest.fixture
def place(built, db) -> town.Town:
    """The town as it was built: what a test does there is taken back. A test takes this or `ground`, not both."""
    turns.forget()
    return built
