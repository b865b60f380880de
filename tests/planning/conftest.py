"""The ground that plans are made on."""

import pytest

from tests.planning.team import found


@pytest.fixture
def team(ground):
    return found(ground)
