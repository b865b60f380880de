"""Many streams are read in larger pieces: a piece costs hardly more than a word of it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from assistants.llm.connections import FREE_STREAMS
from assistants.llm.network import Connection
from tests.kit.stub_llm import StubLLM, say
from tests.llm.asking import ask

WORDS = 60


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what was read from providers' sockets."""
    sizes: list[int] = []
    read = Connection.read

    async def noted(self: Connection, *args: object, **kwargs: object) -> bytes:
        data = await read(self, *args, **kwargs)  # type: ignore[arg-type]
        sizes.append(len(data))
        return data

    monkeypatch.setattr(Connection, "read", noted)
    return sizes


def test_many_streams_are_read_a_few_words_at_a_time_and_whole(llm: StubLLM, reads: list[int]) -> None:
    llm.script_forever([say("x", n=WORDS, delay=0.005)])
    many = 2 * FREE_STREAMS

    with ThreadPoolExecutor(many) as pool:
        texts = list(pool.map(lambda _: ask(llm.profile()).text, range(many)))

    assert texts == ["x" * WORDS] * many
    assert len(reads) < many * WORDS / 2


def test_a_connection_that_is_used_again_is_read_as_ever(llm: StubLLM, reads: list[int]) -> None:
    llm.script_forever([say("x", n=3)])

    texts = [ask(llm.profile()).text for _ in range(3)]

    assert texts == ["xxx"] * 3 and reads
