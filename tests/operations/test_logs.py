"""The log names ids, codes and places, in text and in JSON; nothing that anybody wrote and no key gets into it (S34, F29)."""

import asyncio
import errno
import json
import logging
import logging.config
from io import StringIO

import pytest
from django.test import Client

from assistants import logs
from assistants.models import DocumentRoot, LLMProfile
from assistants.tools import registry
from tests.kit.browsers import signed_in
from tests.kit.sealed import give
from tests.kit.stub_llm import KEY, StubLLM, call, finish, say, status
from tests.kit.turns import last_turn, run_all, run_jobs

CANARY = "canary-of-words-5521"
SECRETS = (CANARY, KEY, "hunter2")


@pytest.fixture
def stub():
    with StubLLM() as server:
        yield server


@pytest.fixture(params=["text", "json"])
def output(request, monkeypatch):
    """Everything that the product's own set-up writes, at its most talkative; the old set-up is put back afterwards."""
    root, before = logging.getLogger(), {}
    for name in ("", "assistants", "subchats", "taskmonkey", "django", "django.db.backends", "__main__"):
        logger = logging.getLogger(name)
        before[name] = (logger.level, logger.handlers[:])
    stream = StringIO()
    logging.config.dictConfig(logs.set_up("DEBUG", request.param))
    next(each for each in root.handlers if isinstance(each, logs.Steady)).setStream(stream)
    yield stream
    for name, (level, handlers) in before.items():
        logging.getLogger(name).setLevel(level)
        logging.getLogger(name).handlers = handlers


@pytest.fixture
def leaking(ground, catcher, stub, tmp_path):
    """A lead with a real provider's client, a key, a document and a tool that fails with what it was given in its words."""

    def leak(context, text: str) -> str:
        """Fails."""
        raise ValueError(f"could not handle {text} with {KEY}")

    registry.tool(effect="pure")(leak)
    (tmp_path / "paper.md").write_text(f"# Paper\n\nThe word is {CANARY}.\n")
    DocumentRoot.objects.create(tenant=ground.apes, name="papers", path=str(tmp_path))
    profile = LLMProfile(tenant=ground.apes, name="stub", provider="openai", model="stub", base_url=stub.url)
    profile.set_key(KEY)
    profile.save()
    ground.lead.profile = profile
    ground.lead.save()
    give(ground.lead, "leak", "search_documents", "read_document")
    return ground


def leaks(output: StringIO) -> list[str]:
    return [line for line in output.getvalue().splitlines() if any(secret in line for secret in SECRETS)]


def test_s34_turns_with_secrets_everywhere_leave_none_in_the_log(leaking, stub, output):
    stub.script(
        [call("leak", {"text": CANARY}), finish("tool_calls")],
        [call("search_documents", {"query": CANARY}), finish("tool_calls")],
        [call("leak", {"words": CANARY}), finish("tool_calls")],
        [say(f"The word is {CANARY}."), finish("stop")],
        [say(f"Title {CANARY}"), finish("stop")],
    )

    thread = leaking.open(f"What is {CANARY}? My password is hunter2.")
    run_all()
    run_jobs()

    assert last_turn(thread).state == "done"
    assert CANARY in last_turn(thread).messages.filter(role="assistant").last().text
    assert "tool leak failed" in output.getvalue()
    assert leaks(output) == []


@pytest.mark.parametrize("code", [400, 401, 404, 429, 500])
def test_s34_what_a_provider_says_of_a_refusal_is_not_logged(leaking, stub, output, code):
    body = {"error": {"message": f"Incorrect key {KEY} for {CANARY}", "type": CANARY}}
    stub.script_forever([status(code, {"X-Echo": CANARY, "Retry-After": "1"}, body=body)])

    leaking.open(f"What is {CANARY}?")
    run_all()

    assert "model call failed" in output.getvalue()
    assert leaks(output) == []


def test_s34_neither_addresses_nor_forms_reach_the_log(leaking, output):
    alice, nobody = signed_in(leaking.alice), Client(enforce_csrf_checks=True)

    nobody.post(f"/enter/x/{CANARY}/", {"password": "hunter2"})
    nobody.post("/login/", {"username": CANARY, "password": "hunter2"})
    nobody.get("/", headers={"host": CANARY})
    alice.get(f"/{CANARY}/")
    alice.get(f"/c/{CANARY}/")
    alice.get(f"/search/?q={CANARY}")
    alice.post("/c/", {"assistant": CANARY, "text": CANARY})

    assert "POST enter/<str:uid>/<str:token>/ 403" in output.getvalue()
    assert leaks(output) == []


def test_s34_a_view_that_breaks_is_told_by_its_place_and_not_by_its_words(leaking, output, monkeypatch):
    def broken(*_: object) -> None:
        try:
            raise KeyError(CANARY)
        except KeyError as error:
            raise RuntimeError(f"no {CANARY}") from error

    monkeypatch.setattr("assistants.access.actor_of", broken)
    alice = signed_in(leaking.alice)
    alice.raise_request_exception = False

    answer = alice.get(f"/search/?q={CANARY}")

    assert answer.status_code == 500
    assert "RuntimeError from KeyError" in output.getvalue()
    assert "tests/operations/test_logs.py:" in output.getvalue()
    assert leaks(output) == []


def test_a_line_names_the_turn_it_is_about_and_so_does_a_task_begun_there(output):
    log = logging.getLogger("assistants.any")

    async def task() -> None:
        log.info("from a task")

    async def both() -> None:
        with logs.about(turn=7):
            logs.know(thread=3, tenant=2)
            await asyncio.create_task(task())
        log.info("afterwards")

    asyncio.run(both())

    first, last = [line for line in output.getvalue().splitlines() if "assistants.any" in line]
    if first.startswith("{"):
        read = json.loads(first)
        assert {name: read[name] for name in ("level", "logger", "message", "turn", "thread", "tenant")} == {
            "level": "INFO", "logger": "assistants.any", "message": "from a task", "turn": 7, "thread": 3, "tenant": 2,
        }  # fmt: skip
        assert "turn" not in json.loads(last)
    else:
        assert "INFO assistants.any [turn=7 thread=3 tenant=2] from a task" in first
        assert last.endswith("INFO assistants.any afterwards")


def test_nobody_can_forge_a_line_and_every_event_is_one(output):
    logging.getLogger("assistants.any").warning("a name: %s", "x\r\n2030-01-01 ERROR assistants \x1b[31mforged\u2028line")

    (line,) = output.getvalue().splitlines()
    told = json.loads(line)["message"] if line.startswith("{") else line

    assert told.endswith("a name: x\\x0d\\x0a2030-01-01 ERROR assistants \\x1b[31mforged\\x2028line")


def test_a_task_that_nobody_waited_for_tells_no_words(output):
    async def failing() -> None:
        raise ValueError(CANARY)

    loop = asyncio.new_event_loop()
    loop.call_exception_handler(
        {"message": "Task exception was never retrieved", "exception": ValueError(CANARY), "future": CANARY}
    )
    loop.close()

    assert "Task exception was never retrieved" in output.getvalue()
    assert "ValueError" in output.getvalue()
    assert leaks(output) == []


def test_libraries_that_write_prompts_are_kept_to_warnings(output):
    for name in ("openai._base_client", "anthropic._base_client", "httpcore2.http11", "google_genai.models", "celery.worker"):
        logging.getLogger(name).debug("Request options: %s", CANARY)
        logging.getLogger(name).info("Request options: %s", CANARY)

    assert output.getvalue() == ""


class FullDisk(StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_f29_a_full_log_disk_stops_nothing_and_lines_come_again_with_space(output, capsys):
    handler = next(each for each in logging.getLogger().handlers if isinstance(each, logs.Steady))
    log = logging.getLogger("assistants.any")

    handler.setStream(FullDisk())
    log.error("lost")
    handler.setStream(output)
    log.error("back")

    assert output.getvalue().count("\n") == 1
    assert "back" in output.getvalue()
    assert capsys.readouterr().err == ""
