"""Notes and refusals are stored in English, once, and read in the reader's language, with what was put into them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from assistants.llm.failures import KINDS
from assistants.sentences import SENTENCES, spoken
from assistants.turns import lifecycle
from tests.kit.browsers import HTMX, signed_in
from tests.kit.turns import last_turn, run_all
from tests.kit.words import url

ROOT = Path(__file__).resolve().parents[2]
# Where a person's deeds are refused, and where notes of turns are written.
SOURCES = (
    *(f"assistants/turns/{name}.py" for name in (
        "refusals", "questions", "approvals", "branches", "queue", "lifecycle", "loop", "think", "allowance", "calls",
    )),
    *(f"assistants/conversations/{name}.py" for name in ("deletion", "sharing", "shelf", "titles", "visitors")),
    "assistants/access.py", "assistants/middleware.py", "subchats/planning/approval.py", "subchats/delegation/send_back.py",
)  # fmt: skip
# What only a model reads, or what is made of other sentences.
FOR_MODELS = {
    "{0}: {1}",
    "{0} has read this call and did not let it run.{1}",
    "Do not make the same call again. Do what they say, go another way, or tell them what was not done.",
    "{0} has read these steps and rejected them; they are no part of the plan.{1}",
    "Write other steps with write_plan that do what they say, or go on without handing anything over.",
    "The token budget of this request was used up in mid-sentence.",
}


# Where it is said why a file of a folder was not read, or not to its end.
READERS = (
    *(f"assistants/documents/{name}.py" for name in ("folder", "scan", "intake")),
    *(f"assistants/documents/conversion/{name}.py" for name in (
        "archive", "child", "converter", "mail", "pdf", "sheets", "slides", "word",
    )),
)  # fmt: skip
WITH_REASONS = {"Skipped", "Unreadable", "_failed", "_Silent", "_skip"}
# It goes to whoever wrote the code: no file leads there.
NEVER_TOLD = {"only converted in a process of its own"}


def reasons_in(path: Path) -> Iterator[str]:
    """The same of the reasons that are given for files, and of the problems that the process which converts answers with."""
    for node in ast.walk(ast.parse(path.read_text())):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            given = node.args[-1:] if name in WITH_REASONS else []
        elif isinstance(node, ast.Dict) and [each.value for each in node.keys if isinstance(each, ast.Constant)] == ["problem"]:
            given = node.values
        for value in given:
            for each in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                if text := _text_of(each):
                    yield text


@pytest.mark.parametrize("source", READERS)
def test_why_a_file_was_not_read_can_be_read_in_german(source: str) -> None:
    assert set(reasons_in(ROOT / source)) - set(SENTENCES) - NEVER_TOLD == set()


def test_the_reasons_are_found_in_the_code() -> None:
    found = {each for source in READERS for each in reasons_in(ROOT / source)}

    assert {"not text", "damaged ({0})", "larger than {0} MB", "takes too long to read", "holds no values"} <= found


def sentences_in(path: Path) -> Iterator[str]:
    """The texts given as a message, a fix or a note, with {0}, {1} for what is put into them."""
    for node in ast.walk(ast.parse(path.read_text())):
        value = node.value if isinstance(node, ast.keyword) and node.arg in ("message", "fix", "note") else None
        if isinstance(node, ast.Assign) and [each.id for each in node.targets if isinstance(each, ast.Name)] == ["note"]:
            value = node.value
        if text := _text_of(value):
            yield text


def _text_of(value: ast.expr | None) -> str:
    """A text as it stands in the code, with {0}, {1} for what is put into it; empty for anything else."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, ast.JoinedStr) and any(isinstance(part, ast.Constant) and part.value.strip() for part in value.values):
        places = iter(range(9))
        return "".join(str(part.value) if isinstance(part, ast.Constant) else f"{{{next(places)}}}" for part in value.values)
    return ""


@pytest.mark.parametrize("source", SOURCES)
def test_every_note_and_refusal_of_a_person_can_be_read_in_german(source: str) -> None:
    assert set(sentences_in(ROOT / source)) - set(SENTENCES) - FOR_MODELS == set()


def test_every_sentence_has_a_german_one_with_the_same_places() -> None:
    with translation.override("de"):
        for each in SENTENCES:
            german = translation.gettext(each)
            assert german != each and {place for place in "0123" if f"{{{place}}}" in german} == {
                place for place in "0123" if f"{{{place}}}" in each
            }, each


def test_what_was_put_into_a_sentence_stays_in_its_place() -> None:
    period = (
        "The daily budget of the team, 1,000 tokens, is used up. The work is kept, and goes on at once if an admin raises the"
        " budget."
    )
    with translation.override("de"):
        assert spoken("Stopped by Anna {0} %s.") == "Von Anna {0} %s gestoppt."
        assert spoken("“Red. Blue.” is not one of the options.") == "„Red. Blue.“ ist keine der Möglichkeiten."
        assert spoken(period).startswith("Das tägliche Budget des Teams, 1,000 Token, ist verbraucht.")
        assert spoken("The message is empty. Write something first.") == "Die Nachricht ist leer. Schreiben Sie zuerst etwas."
        assert spoken("Nobody knows this sentence.") == "Nobody knows this sentence."
    with translation.override("en"):
        assert spoken(period) == period


def test_what_a_provider_did_is_told_in_german() -> None:
    with translation.override("de"):
        for kind in KINDS.values():
            for status in ("", " (HTTP 418)"):
                told = kind.sentence.format(who="apes", model="m", status=status)
                assert spoken(told) != told, told


def test_a_german_page_shows_notes_and_refusals_in_german(ground) -> None:
    thread = ground.open()
    lifecycle.stop_turn(last_turn(thread).pk, by="Alice")
    run_all()
    german = {"Accept-Language": "de"}

    html = signed_in(ground.alice, **german).get(f"/c/{thread.chat_id}/").content.decode()
    elsewhere = signed_in(ground.alice, **german, **HTMX).post(url("retry_turn", last_turn(ground.open("Still at work"))))

    assert "Von Alice gestoppt." in html and last_turn(thread).note == "Stopped by Alice."
    assert "Ein Modell nach Drehbuch antwortet" in html
    assert elsewhere.json()["message"] == "In diesem Gespräch wird gerade geantwortet."
