"""Explorers and failed researches on the page: words for people, where models exchange JSON."""

from pathlib import Path

import pytest
from django.test import Client

from assistants.models import Thread
from assistants.models.turn_event import TurnEvent
from subchats.cards import first_sentence, last_line
from subchats.explorer_cards import worded_label
from subchats.models import Delegation
from tests.kit.world import World
from tests.research.house import House, build, candidate, emits, handoff, leaf, run_of, sends
from tests.research.test_pages import page


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    return build(ground, tmp_path)


def child_of(thread: Thread) -> Thread:
    return Thread.objects.get(delegation__call__turn__thread=thread)


def test_the_card_of_an_explorer_says_what_it_looks_for_and_what_stood_in_the_documents(house: House) -> None:
    thread = house.ask([sends(), emits()], [handoff(candidate(), candidate(evidence="Refunds are paid within two hours."))])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert "Looks for: refund · paid back" in html
    assert "1 quote found · 1 finding thrown away" in html
    assert "One assistant has worked on this" in html
    assert "originalQuery" not in html.split('class="card sub')[1].split("</article>")[0]


def test_a_dispatch_that_opened_nothing_is_told_in_words_too(house: House) -> None:
    refused = sends(tasks=[leaf(cwd="/etc"), leaf(cwd="/etc"), {"agent": "autorag-explorer", "task": '{"originalQuery": 1}'}])
    thread = house.ask([refused, sends(), emits()], [handoff()])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    card = html.split('class="card sub refused"')[1].split("</article>")[0]
    assert "Looks for: refund · paid back</p>" in card and "Explorer × " in card
    assert "originalQuery" not in card and "Ad-hoc" not in card


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (handoff(candidate(evidence="Refunds are paid within two hours.")), "Found nothing · 1 finding thrown away"),
        ('{"candidates": []}', "No findings that can be used."),
        ("I found **nothing** in `refunds.md`.", "I found nothing in refunds.md."),
    ],
)
def test_a_report_that_brings_nothing_is_told_in_words(house: House, report: str, words: str) -> None:
    thread = house.ask([sends(), "No.", "No.", "No."], [report, report, report])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert f'<p class="last" dir="auto">{words}</p>' in html


def test_the_explorers_own_page_shows_its_assignment_and_its_findings_readably(house: House) -> None:
    invented = candidate(evidence="Refunds are paid within two hours.")
    thread = house.ask([sends(), emits()], [handoff(candidate(), invented)])

    _, html = page(house.ground.alice, f"/c/{child_of(thread).chat_id}/")

    evidence = run_of(thread).evidence.get()
    assert "Wordings to try" in html and "refund · paid back" in html
    assert "2 findings reported" in html
    assert f'href="/c/{thread.chat_id}/evidence/{evidence.pk}/#quote"' in html
    assert "thrown away" in html and "These words do not stand in handbook/returns/refunds.md." in html
    assert "got the quotes that stood in the documents" in html


def test_the_findings_are_drawn_once_more_when_they_were_looked_up(house: House) -> None:
    thread = house.ask([sends(), emits()], [handoff()])

    events = list(TurnEvent.objects.filter(thread=child_of(thread)).order_by("number").values_list("kind", flat=True))

    assert events[-1] == "message" and "turn" in events


def test_an_unreadable_report_names_its_faults(house: House) -> None:
    thread = house.ask([sends(), "No.", "No.", "No."], ['{"candidates": []}'] * 3)

    _, html = page(house.ground.alice, f"/c/{child_of(thread).chat_id}/")

    assert "This report could not be read; nothing of it counts." in html and "MISSING_ASSIGNMENT assignment" in html


def test_a06_a_research_without_results_says_what_was_searched_and_what_to_try(house: House) -> None:
    thread = house.ask([sends(), "No.", "No.", "No."], [handoff(candidate(evidence="Refunds are paid within two hours."))])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert "Nothing was found in the documents that answers this." in html
    assert "searched for refund · paid back" in html and "nothing found there" in html
    assert "Try the words that the documents may use" in html
    assert "call subagent" not in html


def test_a06_the_same_is_said_in_german(house: House) -> None:
    thread = house.ask([sends(), "No.", "No.", "No."], [handoff(candidate(evidence="Refunds are paid within two hours."))])

    german = Client(headers={"Accept-Language": "de"})
    german.force_login(house.ground.alice)
    html = german.get(f"/c/{thread.chat_id}/").content.decode()

    assert "In den Dokumenten wurde nichts gefunden, das dies beantwortet." in html
    assert "suchte nach refund · paid back" in html


def test_a06_evidence_that_was_found_is_shown_although_no_answer_came_of_it(house: House) -> None:
    thread = house.ask([sends(), "No.", "No.", "No."], [handoff()])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert "Evidence was found, but the assistant did not make an answer of it." in html
    assert "These quotes were found until then." in html and "/evidence/" in html


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("First\n\n> **Last** `line`", "Last line"),
        ("- [x] counted\n\n---\n", "counted"),
        ("# Head\n```\n", "Head"),
        ("snake_case and 2 * 3 stay", "snake_case and 2 * 3 stay"),
        ("a *slanted* and _slanted_ word", "a slanted and slanted word"),
        ("| a | b |\n|---|---|", "a · b"),
        ("> | a | b |\n> |---|---|", "a · b"),
        ("\n\n", ""),
    ],
)
def test_a_last_line_has_no_marks_of_markdown(text: str, line: str) -> None:
    assert last_line(text) == line


@pytest.mark.parametrize(
    ("label", "shown"),
    [("Handbook · posix", "Handbook · reads the files"), ("Handbook · by dates", "Handbook · by dates"), ("x", "x")],
)
def test_the_label_of_an_explorer_has_words_for_our_methods(label: str, shown: str) -> None:
    assert worded_label(Delegation(label=label)) == shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Returns rose from 31 to 118. Every other one moved less.\n\nMore in: a.md", "Returns rose from 31 to 118."),
        (
            "**Why?**\n\n`a.md` says this:\n\n> Returns rose\n> to **118** units. See below.\n\n— a.md",
            "Returns rose to 118 units.",
        ),
        ("# Head\n\n- counted [here](/c/1)\n- weighed", "counted here"),
        ("Dazu z. B. am 3. März, lt. Dr. Ott. Dann mehr.", "Dazu z. B. am 3. März, lt. Dr. Ott."),
        ("He said “No!” Then he left.", "He said “No!”"),
        ("| a |\n|---|\n| 1 |\n\nOne row.", "One row."),
        ("> | Supplier | Makes |\n> |---|---|\n> | Seam | zips |\n\nOne supplier.", "One supplier."),
        ("> ## Makers\n\nOne supplier.", "One supplier."),
        ("> | Supplier | Makes |\n> |---|---|\n", "Supplier · Makes"),
        ("## 42", "42"),
        ("それは四十二です。次。", "それは四十二です。"),
        ("word " * 100, ("word " * 48).rstrip() + "…"),
        ("\n\n", ""),
    ],
)
def test_a_first_sentence_tells_something_and_has_no_marks_of_markdown(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
