"""How the engine researches: places a search named first, sections instead of windows, and the kind of answer asked for."""

import json
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from assistants.documents.indexing import index_root
from assistants.llm.builtin.figures import MOMENT, is_amount, wanted_figure
from assistants.llm.builtin.findings import beside_best, rank_findings
from assistants.llm.builtin.kinds import PERSON, REASON, REMEDY, gives_kind, wanted_kind
from assistants.llm.builtin.passages import Passage
from assistants.llm.builtin.phrases import phrase
from assistants.llm.builtin.researching import brought_in
from assistants.llm.builtin.sections import sections_of
from assistants.llm.builtin.wish import make_wish
from assistants.models import DocumentRoot, Tenant, ToolCall
from assistants.turns.lifecycle import open_thread
from subchats.models import LocalDiscovery, ResearchRun
from subchats.research.claims import unsupported
from tests.kit import turns

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo(db: None) -> Tenant:
    call_command("demo")
    return Tenant.objects.get(slug="demo")


def research(tenant: Tenant, question: str) -> ResearchRun:
    owner = tenant.memberships.get(user__username="admin").user
    thread = open_thread(tenant.assistants.get(slug="research"), owner=owner, text=question)
    turns.run_all()
    return ResearchRun.objects.get(turn__thread=thread)


def best(question: str, *texts: str, language: str = "en") -> str:
    passages = tuple(Passage(document=f"{place}.md", text=text, rank=place) for place, text in enumerate(texts))
    return rank_findings(make_wish(question, language), passages)[0].best.text


# --- the kind of answer
@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What do I do when the zipper breaks?", REMEDY),
        ("What happens if a parcel is lost?", REMEDY),
        ("Was tun, wenn der Reißverschluss klemmt?", REMEDY),
        ("Who approves a trip?", PERSON),
        ("An wen wende ich mich?", PERSON),
        ("Why do backpacks come back?", REASON),
        ("Warum kommen Rucksäcke zurück?", REASON),
        ("How long does a refund take?", ""),
        ("Which tents are in stock?", ""),
    ],
)
def test_a_question_asks_for_a_kind_of_answer(question: str, kind: str) -> None:
    assert wanted_kind(question) == kind


@pytest.mark.parametrize(
    ("question", "moment"),
    [
        ("When is the shop open?", True),
        ("Until when may I send it back?", True),
        ("Where is it, and when does it open?", True),
        ("What do I do when the zipper breaks?", False),
        ("Wann öffnet der Laden?", True),
    ],
)
def test_when_in_the_middle_is_a_condition_and_no_question_for_a_moment(question: str, moment: bool) -> None:
    assert (wanted_figure(question, "de" if question.startswith("Wann") else "en") == MOMENT) is moment


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "What do I do when the zipper of a jacket breaks?",
            "Send us a photo of the broken zipper and we repair the jacket.",
            "| Z4 | zipper for jackets, breaks at 30 kg | 930 | 22 |",
        ),
        (
            "Who approves travel?",
            "Travel is approved by the team lead.",
            "Travel approves of nothing; travel is travel.",
        ),
        ("Why do tents come back?", "Tents come back because the seams leak.", "Tents come back in week 44 and week 45."),
        (
            "Was mache ich, wenn die Jacke kaputt ist?",
            "Ist die Jacke kaputt, schicken Sie uns bitte ein Foto.",
            "Die Jacke war kaputt: 12 Stück im Lager.",
        ),
    ],
)
def test_of_two_with_the_same_words_the_one_of_the_kind_comes_first(question: str, answer: str, other: str) -> None:
    language = "de" if question.startswith("Was mache") else "en"

    assert best(question, other, answer, language=language) == answer
    assert gives_kind(wanted_kind(question), answer)


@pytest.mark.parametrize("amount", ["300", "1,200", "25.50", "euros", "Euro", "percent", "1000"])
def test_an_amount_in_a_question_need_not_stand_in_its_answer(amount: str) -> None:
    wish = make_wish(f"Who may release a refund above {amount}?", "en")

    found = rank_findings(wish, [Passage(document="a.md", text="Refunds above a limit are released by the team lead.")])

    assert is_amount(amount.lower()) and found[0].coverage == 1.0


@pytest.mark.parametrize("word", ["1927", "b12345", "47th", "nl-12", "euroland"])
def test_a_year_and_a_code_are_what_a_question_is_about(word: str) -> None:
    assert not is_amount(word)


# --- sections
def test_a_window_is_cut_at_its_headings_and_each_section_knows_its_lines_and_its_headings() -> None:
    text = "Intro.\n# Returns\n\n## Times\nFive days.\n\n## Costs\n### Abroad\nTen euros.\n# Other\nText."
    window = Passage(document="a.md", text=text, title="Book", first_line=41, last_line=51, counted=True)

    found = sections_of([window])

    told = [(each.title, each.first_line, each.last_line) for each in found]
    assert told == [
        ("Book", 41, 41),
        ("Returns › Times", 44, 46),
        ("Returns › Costs › Abroad", 48, 49),
        ("Other", 50, 51),
    ]
    lines = text.split("\n")
    assert all(each.text == "\n".join(lines[each.first_line - 41 : each.last_line - 40]) for each in found)


def test_a_window_without_headings_stays_whole() -> None:
    window = Passage(document="a.csv", text="- A: 1\n- A: 2", first_line=1, last_line=2, counted=True)

    assert sections_of([window]) == (window,)


def test_a_document_with_all_words_here_and_there_is_no_strong_finding() -> None:
    scattered = "# One\nThe zipper is blue.\n\n# Two\nThe jacket is red.\n\n# Three\nNothing breaks."
    question = make_wish("What if the zipper of a jacket breaks?", "en")

    whole = rank_findings(question, [Passage(document="a.md", text=scattered)])
    cut = rank_findings(question, sections_of([Passage(document="a.md", text=scattered)]))

    assert whole[0].good and not any(each.good for each in cut)


# --- in the product
def test_a12_the_search_comes_first_and_explorers_read_where_it_found_something(demo: Tenant) -> None:
    run = research(demo, "What do I do when the zipper of a jacket breaks?")

    mine = ToolCall.objects.filter(turn=run.turn).order_by("round").values_list("name", flat=True)
    assert list(mine) == ["retrieve", "subagent", "emit_autorag_results"]
    below = ToolCall.objects.filter(turn__thread__parent=run.turn.thread)
    assert {(call.name, call.outcome) for call in below} == {("grep", "ok"), ("read", "ok")}
    first = run.results.first()
    assert first is not None and "warranty" in first.source
    assert "stock" not in first.source and "price-list" not in first.source


def test_what_answers_stands_before_what_only_has_the_words(demo: Tenant) -> None:
    expected = {
        "How long does a refund take?": ("returns/refunds.md", "5 working days"),
        "What does shipping to Norway cost?": ("logistics/shipping-and-carriers.md", "€19.90"),
        "How long is the warranty on a tent?": ("warranty", "5 years"),
        "How do I wash a down jacket?": ("care.md", "30 °C"),
        "Who may release a refund above 500 euros?": ("returns/refunds.md", "returns desk"),
        "How many backpacks came back in week 47?": ("complaints-weeks-44-47.md", "118"),
    }

    for question, (source, words) in expected.items():
        first = research(demo, question).results.first()
        assert first is not None and source in first.source and words in first.content, question


def test_a12_in_a_large_folder_what_stands_behind_many_hits_is_found_too(demo: Tenant, tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"a{number:03}.md").write_text(
            f"# Note {number}\n\nThe pump of hall {number} was looked at. Nothing else.\n"
        )
    (tmp_path / "z.md").write_text(
        "# Care of the pump\n\n" + "Text.\n\n" * 200 + "The pump is greased with graphite every May.\n"
    )
    root = DocumentRoot.objects.create(tenant=demo, name="plant", path=str(tmp_path))
    index_root(root)

    run = research(demo, "What is the pump greased with?")

    assert any("graphite" in each.content for each in run.results.all()[:2])


def test_of_many_folders_those_with_something_are_looked_through_first_and_no_more_than_may_be_at_once(
    demo: Tenant, tmp_path: Path
) -> None:
    for number in range(9):
        (tmp_path / f"f{number}").mkdir()
        (tmp_path / f"f{number}" / "a.md").write_text(f"# Note {number}\n\nNothing of interest.\n")
    (tmp_path / "f8" / "a.md").write_text("# Pumps\n\nThe pump is greased with graphite every May.\n")
    for number in range(9):
        index_root(DocumentRoot.objects.create(tenant=demo, name=f"f{number}", path=str(tmp_path / f"f{number}")))

    run = research(demo, "What is the pump greased with?")

    assert run.tasks.count() == 8
    first = run.results.first()
    assert first is not None and "graphite" in first.content


def test_a35_with_a_local_discovery_it_asks_first_and_reads_what_was_named(demo: Tenant, tmp_path: Path) -> None:
    pack = {
        "answer_paths": ["returns/refunds.md"],
        "handoff_action": "direct_use",
        "tool_call_policy": {"stop_after_find": True, "forbidden_tools": [], "allowed_followups": []},
        "agent_should_not_rerank": True,
    }
    (tmp_path / "find.py").write_text(f"print({json.dumps(pack)!r})")
    command = f"{sys.executable} {tmp_path / 'find.py'} {{root}} {{query}}"
    LocalDiscovery.objects.create(tenant=demo, command=command, enabled=True)

    run = research(demo, "How long does a refund take?")

    below = ToolCall.objects.filter(turn__thread__parent=run.turn.thread)
    assert {call.code for call in below.filter(name="grep")} == {"DISCOVERY_FORBIDS"}
    read = {call.arguments["path"] for call in below.filter(name="read", outcome="ok")}
    assert read == {"handbook/returns/refunds.md"}
    first = run.results.first()
    assert run.finished and first is not None and "5 working days" in first.content


def test_what_only_shares_a_word_with_the_question_is_no_result_beside_the_answer(demo: Tenant) -> None:
    expected = {
        "How long does a refund take?": {"refunds.md", "sending-something-back.md"},
        "What is the mileage allowance?": {"travel-policy.md"},
        "How many days of holiday do we have?": {"onboarding.md"},
    }

    for question, sources in expected.items():
        run = research(demo, question)
        assert {each.source.rsplit("/", 1)[1] for each in run.results.all()} == sources, question
        assert set(run.results.values_list("evidence__relevance", flat=True)) == {"strong"}, question


def test_what_is_missing_in_the_best_is_told_by_another_one() -> None:
    wish = make_wish("What do hotels and taxis cost?", "en")
    texts = (
        "Hotels cost 100 euros at most.",
        "Taxis cost nothing at night.",
        "Parcels are heavy, and cost us time and nerves.",
    )
    found = rank_findings(wish, [Passage(document=f"{place}.md", text=text) for place, text in enumerate(texts)])

    assert {each.passage.document for each in beside_best(wish, found)} == {"0.md", "1.md"}


def test_where_all_of_something_are_asked_for_rows_go_before_a_sentence_about_them() -> None:
    table = (
        "# Trips\n\nTrips of staff are paid.\n\n## Allowances\n\n| What | Much |\n|---|---|\n| hotel | €110 |\n| meals | €14 |"
    )

    assert best("List every allowance for trips", table) == "| hotel | €110 |"
    assert best("Are trips of staff paid?", table) == "Trips of staff are paid."


def test_rows_that_are_asked_for_together_are_quoted_together(demo: Tenant) -> None:
    first = research(demo, "List every allowance in our travel policy, with numbers").results.first()

    assert first is not None and first.source.endswith("travel-policy.md")
    assert all(amount in first.content for amount in ("Expense", "€110.00", "€14.00", "€28.00", "€0.30"))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("key", ["found", "found_near"])
def test_the_lead_of_an_answer_is_no_claim_without_evidence(demo: Tenant, language: str, key: str) -> None:
    results = list(research(demo, "How long does a refund take?").results.all())

    assert unsupported(f"{phrase(language, key)}\n\n> A refund takes 5 working days. [1]", results) == []
    assert unsupported("A refund takes nine long weeks.", results) == ["A refund takes nine long weeks."]


def test_a44_evidence_has_the_date_that_its_document_gives_and_no_other(demo: Tenant) -> None:
    dated = research(demo, "How many of B12345 are in stock?").evidence.filter(source__contains="warehouse-and-stock")
    unknown = research(demo, "How often is the zipper of the Tundra 45 brushed?").evidence.filter(
        source__contains="product-care"
    )

    assert {(each.temporal_status, each.temporal_date) for each in dated} == {("asOf", "2026-11-20")}
    assert all(each.temporal_basis.startswith("As of Friday, 20 November 2026") for each in dated)
    assert {(each.temporal_status, each.temporal_date) for each in unknown} == {("unknown", "")}


def test_a_german_question_finds_its_answer_in_english_papers(demo: Tenant) -> None:
    expected = {
        "Wie lange ist die Rückgabefrist?": ("returns", "30 days"),
        "Wie lange gilt die Garantie für Zelte?": ("warranty", "5 years"),
        "Was kostet der Versand nach Norwegen?": ("logistics/shipping-and-carriers.md", "€19.90"),
    }

    for question, (source, words) in expected.items():
        first = research(demo, question).results.first()
        assert first is not None and source in first.source and words in " ".join(first.content.replace("*", "").split()), (
            question
        )


@pytest.mark.parametrize("locator", ["line 5, Costs", "sheet A, B, line 5, Costs"])
def test_a_page_in_a_locator_is_no_heading(locator: str) -> None:
    candidate = {"evidenceId": "e", "source": "s", "excerpt": "x", "lineNumber": 5, "relevance": "strong", "locator": locator}

    found = brought_in({"reply": json.dumps({"candidates": [candidate]})})

    assert [each.heading for each in found] == ["Costs"]
