"""A site on loopback, and one that nobody may ever reach."""

import pytest

from tests.outbound.small_site import SmallSite


@pytest.fixture
def site():
    made = SmallSite()
    yield made
    made.stop()


@pytest.fixture
def catcher():
    made = SmallSite()
    yield made
    made.stop()
