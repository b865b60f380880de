"""What the tests of the model layer share: a stub server and imports done beforehand, as in a serving process."""

from collections.abc import Iterator

import pytest

from assistants.llm.models import warm_up
from tests.kit.stub_llm import StubLLM
from tests.llm.asking import RecordingSink


@pytest.fixture(scope="session", autouse=True)
def _providers_are_imported() -> None:
    warm_up(["openai", "anthropic", "google", "scripted"])


@pytest.fixture
def llm() -> Iterator[StubLLM]:
    with StubLLM() as server:
        yield server


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()
