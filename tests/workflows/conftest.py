"""The apes with a workflow of their own, and a lead that may follow it."""

import pytest

from tests.workflows.steps import TOOLS, banana_count


@pytest.fixture
def troop(ground):
    """The ground, where the lead has the workflow tools, a clock and a calculator."""
    ground.lead.tools = [*ground.lead.tools, "calculate", *TOOLS]
    ground.lead.save()
    banana_count(ground.apes)
    return ground
