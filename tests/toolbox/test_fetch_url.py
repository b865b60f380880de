"""Web pages are fetched only where the site allows it, and only as text."""

import json

import pytest

from assistants.errors import CodedError
from assistants.models.definition import definition_of
from assistants.outbound import Fetched
from assistants.toolbox.fetch_url import fetch_url, present
from assistants.tools.registry import find_tool
from tests.kit.turns import last_turn, run_all
from tests.outbound.small_site import SmallSite


@pytest.fixture
def allowed(settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "ALLOW_FETCH_URL": True}


def answer(body, content_type="text/html; charset=utf-8", **changes):
    return Fetched(**{"url": "https://good.example/", "status": 200, "content_type": content_type, "body": body, **changes})


def test_it_is_off_by_default_and_no_model_hears_of_it(ground, settings):
    thread = ground.open("Hi")

    assert settings.TASKMONKEY["ALLOW_FETCH_URL"] is False
    assert find_tool("fetch_url").define(definition_of(thread), thread) is None


def test_a_call_is_refused_while_it_is_off(ground):
    ground.lead.tools = ["fetch_url"]
    ground.lead.save()
    ground.script([{"calls": [{"name": "fetch_url", "arguments": {"url": "https://good.example/"}}]}, "A pity."])
    thread = ground.open("Look there")

    run_all()

    call = last_turn(thread).calls.get()
    assert (call.outcome, call.code) == ("refused", "TOOL_OFF")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
def test_s35_a_model_that_asks_for_the_inside_is_refused(ground, allowed, host):
    """The guard before the tool may refuse some of them already; the tool does not rely on it."""
    catcher = SmallSite()
    ground.lead.tools = ["fetch_url"]
    ground.lead.save()
    ground.script([{"calls": [{"name": "fetch_url", "arguments": {"url": catcher.url(host=host)}}]}, "A pity."])
    thread = ground.open("Look there")

    run_all()
    with pytest.raises(CodedError, match="can't be fetched"):
        fetch_url(None, url=catcher.url(host=host))
    catcher.stop()

    assert (last_turn(thread).calls.get().outcome, catcher.connections) == ("refused", 0)


def test_it_says_what_it_does(ground, allowed):
    made = find_tool("fetch_url")
    thread = ground.open("Hi")

    assert (made.effect, made.sends_out, made.takes_untrusted, made.reads_private) == ("pure", True, True, False)
    assert made.define(definition_of(thread), thread).name == "fetch_url"


def test_a_page_is_reduced_to_its_text():
    body = "<title>Häfen</title><script>steal()</script><h1>Aarhus</h1><p onclick='x()'>Größte Häfen".encode()

    assert present(answer(body)) == {
        "url": "https://good.example/",
        "status": 200,
        "title": "Häfen",
        "text": "# Aarhus\n\nGrößte Häfen",
    }


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        ("Größe".encode("latin-1"), "text/plain; charset=ISO-8859-1", "Größe"),
        ('<meta charset="cp1252">Größe'.encode("cp1252"), "text/html", "Größe"),
        ("Größe".encode(), "text/plain; charset=no-such", "Größe"),
        ("Größe".encode(), "text/plain; charset=hex", "Größe"),
        (b"a\0b", "", "ab"),
        (b"\xff\xfe", "text/plain", "��"),
        (b"<p>Hi", "", "Hi"),
    ],
)
def test_text_is_read_by_its_kind_and_charset(body, content_type, text):
    assert present(answer(body, content_type))["text"] == text


def test_what_is_no_text_is_refused():
    with pytest.raises(CodedError) as refused:
        present(answer(b"%PDF", "application/pdf"))

    assert refused.value.code == "NOT_TEXT"


def test_j8_a_long_page_is_cut_and_says_so():
    shown = present(answer(b"<p>" + b"word " * 20_000))

    assert len(shown["text"]) == 40_000
    assert shown["note"] == "The page is longer than what is shown."
    assert json.dumps(shown)


def test_the_function_itself_refuses_while_it_is_off():
    with pytest.raises(CodedError, match="switched off"):
        fetch_url(None, url="https://good.example/")
