"""Tools that are caught, as in the tests of approvals."""

from tests.approvals.conftest import catcher  # noqa: F401 - a fixture
