"""Which model answers when nobody set one up, and how the page says so; and the test of a connection."""

import re
import threading
from collections.abc import Iterator

import pytest

from assistants.llm import detect
from assistants.llm.check import check_connection
from assistants.llm.detect import describe, detect_profile, forget
from assistants.llm.profile import Profile
from assistants.llm.reply import ModelError
from tests.kit.stub_llm import StubLLM, delta, never, say, status
from tests.kit.waiting import until


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for company in ("OPENAI", "ANTHROPIC"):
        for part in ("API_KEY", "BASE_URL", "MODEL"):
            monkeypatch.delenv(f"{company}_{part}", raising=False)
    monkeypatch.delenv("TASKMONKEY_MODEL", raising=False)
    monkeypatch.setattr(detect, "LOCAL_PORTS", (9,))
    forget()
    yield
    forget()


def test_with_nothing_at_hand_the_built_in_engine_answers() -> None:
    profile = detect_profile()

    assert profile.provider == "builtin"
    assert "no language model" in describe(profile) and "OPENAI_API_KEY" in describe(profile)


def test_an_openai_key_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-b")
    monkeypatch.setenv("OPENAI_MODEL", "gpt-x")

    profile = detect_profile()

    assert (profile.provider, profile.model, profile.api_key, profile.base_url) == ("openai", "gpt-x", "sk-a", "")
    assert describe(profile) == "gpt-x answers, from OpenAI."
    assert "sk-a" not in repr(profile)


def test_an_anthropic_key_comes_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-b")

    profile = detect_profile()

    assert (profile.provider, profile.model, profile.api_key) == ("anthropic", detect.ANTHROPIC_DEFAULT, "sk-b")


def test_a_base_url_of_ones_own_is_asked_which_model_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubLLM(models=["nomic-embed-text", "qwen3"]) as llm:
        monkeypatch.setenv("OPENAI_BASE_URL", llm.url)

        profile = detect_profile()

    assert (profile.provider, profile.model, profile.base_url) == ("openai", "qwen3", llm.url)
    assert describe(profile) == f"qwen3 answers, from 127.0.0.1:{llm.port}."


def test_a_local_server_is_found_at_its_usual_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubLLM(models=["llama"]) as llm:
        monkeypatch.setattr(detect, "LOCAL_PORTS", (9, llm.port))

        profile = detect_profile()

    assert (profile.provider, profile.model, profile.base_url) == ("local", "llama", llm.url)
    assert describe(profile) == f"llama answers, from the model server at 127.0.0.1:{llm.port}."


def test_whatever_else_listens_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubLLM(models=[]) as llm:
        monkeypatch.setattr(detect, "LOCAL_PORTS", (llm.port,))

        assert detect_profile().provider == "builtin"


def test_tests_can_force_the_built_in_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    monkeypatch.setenv("TASKMONKEY_MODEL", "builtin")

    assert detect_profile() == detect.BUILTIN


def test_looking_is_done_once_and_again_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    go_on = threading.Event()

    def slow_look(environment: object) -> Profile:
        looks.append(len(looks))
        assert len(looks) == 1 or go_on.wait(60)
        return Profile("local", f"model-{len(looks)}", base_url="http://127.0.0.1:1/v1")

    monkeypatch.setattr(detect, "_look", slow_look)
    first = [detect_profile().model for _ in range(5)]
    monkeypatch.setattr(detect, "KEEP_SECONDS", -1)

    stale = [detect_profile().model for _ in range(5)]

    assert (first, stale) == (["model-1"] * 5, ["model-1"] * 5)
    go_on.set()
    until(lambda: detect._found is not None and detect._found.profile.model == "model-2")
    assert len(looks) == 2


def test_the_test_of_a_connection_says_how_it_went(llm: StubLLM) -> None:
    llm.script([say("OK")], [delta(reasoning="hm")])

    works = check_connection(llm.profile(label="Our model"))
    silent = check_connection(llm.profile())

    assert re.match(r"The connection works: stub answered in \d+\.\d", works)
    assert silent.endswith(", but without any text.")
    assert llm.requests[0].body["max_tokens"] == 64 and "tools" not in llm.requests[0].body


def test_the_test_of_a_connection_says_what_is_wrong(llm: StubLLM) -> None:
    llm.script([status(401)], [never()])

    with pytest.raises(ModelError) as refused:
        check_connection(llm.profile(label="Our model"))
    with pytest.raises(ModelError) as silent:
        check_connection(llm.profile(), seconds=0.5)

    assert refused.value.message == "Our model does not accept the key."
    assert silent.value.code == "MODEL_TIMEOUT_FIRST_TOKEN"
