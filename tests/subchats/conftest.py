"""What several tests of sub-chats start from."""

import pytest


@pytest.fixture
def three(ground):
    """Assistants a, b and c, each of which has an answer."""
    for name in "abc":
        ground.assistant(name, script=[f"from {name}", f"{name} again"])
    return ground
