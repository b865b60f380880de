"""The four places of a model call at which a test can let the process die (D12)."""

import pytest

from assistants import failpoints
from tests.kit.stub_llm import StubLLM, call, say
from tests.llm.asking import ADD, RecordingSink, ask


@pytest.mark.parametrize(
    ("point", "nth", "requests", "said"),
    [
        ("llm.requested", 1, 0, 0),
        ("llm.first_delta", 1, 1, 1),
        ("llm.mid_stream", 3, 1, 4),
        ("llm.mid_stream", 9, 1, 10),
        ("llm.finished", 1, 1, 10),
    ],
)
def test_each_point_is_passed_at_its_moment(
    llm: StubLLM, sink: RecordingSink, monkeypatch: pytest.MonkeyPatch, point: str, nth: int, requests: int, said: int
) -> None:
    monkeypatch.setattr(failpoints, "ARMED", {point: f"raise:{nth}"})
    monkeypatch.setattr(failpoints, "_passed", {})
    llm.script([say("x", n=10), call("add", {"a": 1})])

    with pytest.raises(RuntimeError, match=point):
        ask(llm.profile(), tools=[ADD], sink=sink)

    assert (len(llm.requests), len(sink.text)) == (requests, said)
