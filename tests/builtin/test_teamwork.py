"""The engine in a team: it plans, hands out at once, confirms, makes tables, researches; with real tools and documents."""

from pathlib import Path

import pytest
from django.core.management import call_command

from assistants.llm.builtin.tabling import Sheet, _kind
from assistants.models import StoredTable, Tenant, Thread, ToolCall, User
from assistants.turns import lifecycle
from subchats.models import Plan, ResearchRun
from tests.kit import turns

# A tool runs in a thread of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Tenant:
    monkeypatch.setenv("TASKMONKEY_MODEL", "builtin")
    call_command("demo", verbosity=0)
    return Tenant.objects.get(slug="demo")


def ask(demo: Tenant, text: str, *, slug: str = "lead") -> Thread:
    person = User.objects.get(memberships__tenant=demo, memberships__role="admin")
    thread = lifecycle.open_thread(demo.assistants.get(slug=slug), owner=person, text=text)
    turns.run_all()
    return thread


def called(thread: Thread) -> list[str]:
    return [call.name for call in ToolCall.objects.filter(turn__thread=thread).order_by("turn_id", "round", "index")]


def test_j11_two_parts_are_planned_handed_out_at_once_and_confirmed(demo: Tenant) -> None:
    thread = ask(demo, "How long does a refund take, and which supplier makes the zippers?")

    steps = Plan.objects.get(turn__thread=thread).steps.all()
    assert called(thread) == ["write_plan", "spawn_agents", "confirm_step", "confirm_step"]
    assert [(step.specialist.slug, step.status) for step in steps] == [("returns", "done"), ("purchasing", "done")]
    assert steps[0].evidence.startswith("A refund takes 5 working days from the day the parcel arrives")
    assert steps[1].evidence == "Falkenau Zip · all zippers and sliders, repair kit Z40010 · 15 working days · 2,000 pieces"
    assert "Falkenau Zip" in turns.replies(thread)[-1] and "**5 working days**" in turns.replies(thread)[-1]


def test_j15_an_assistant_that_must_plan_first_does_so_when_it_is_refused(demo: Tenant) -> None:
    demo.assistants.filter(slug="lead").update(plan_gate="always")

    thread = ask(demo, "How long does a refund take?")

    assert called(thread) == ["invoke_assistant", "write_plan", "invoke_assistant", "confirm_step"]
    assert "**Returns desk** reports:" in turns.replies(thread)[-1]


def test_a_chart_and_a_file_come_from_a_table_of_a_document(demo: Tenant) -> None:
    thread = ask(demo, "Show me a chart of the units returned of B12345 and offer it as Excel")

    table = StoredTable.objects.get()
    assert called(thread) == ["search_documents", "read_document", "cache_assembled_table", "make_chart", "export_table"]
    assert table.rows == [
        ["B12345", "backpack Tundra 45", week, units] for week, units in ((44, 29), (45, 33), (46, 31), (47, 118))
    ]
    assert turns.replies(thread)[-1] == "This is **Units returned** from `handbook/returns/units-returned.csv`: 4 rows."


def test_the_figures_of_a_table_keep_the_digits_that_stand_in_the_document(demo: Tenant) -> None:
    ask(demo, "Show me the price list as a table")

    rows = {row[0]: row for row in StoredTable.objects.get().rows}
    assert rows["B12345"][3:6] == ["149.00", "61.50", "1.62"] and rows["Z40010"][3] == "14.90"


def test_numbers_that_begin_with_zeros_are_no_figures() -> None:
    sheet = Sheet("Parts", (("Part", _kind(["007", "12"])), ("Units", _kind(["0", "-3", ""]))), (("007", "-3"), ("12", "")))

    assert sheet.columns == (("Part", "text"), ("Units", "number")) and sheet.cells() == [["007", -3], ["12", None]]


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [
        ("How long does a refund take?", "handbook/returns/refunds.md", "5 working days"),
        ("Which supplier makes the zippers?", "handbook/purchasing/suppliers.md", "Falkenau Zip"),
    ],
)
def test_a07_a_research_ends_with_results_from_the_right_document(
    demo: Tenant, question: str, document: str, words: str
) -> None:
    thread = ask(demo, question, slug="research")

    run = ResearchRun.objects.get(turn__thread=thread)
    evidence = [each for result in run.results.all() for each in result.evidence.all()]
    assert called(thread) == ["retrieve", "subagent", "emit_autorag_results"]
    assert run.finished and any(each.source == document and words in each.excerpt for each in evidence)
    assert "[1]" in turns.replies(thread)[-1]


def test_a07_what_is_in_no_document_ends_without_results(demo: Tenant) -> None:
    thread = ask(demo, "Who won the chess championship in 1927?", slug="research")

    assert turns.last_turn(thread).reason == "research:incomplete"
    assert not ResearchRun.objects.get().results.exists()


def test_the_documents_of_the_demo_are_read_only_by_their_own(demo: Tenant, tmp_path: Path) -> None:
    thread = ask(demo, "How long does a refund take?", slug="research")

    explorers = Thread.objects.filter(parent=thread)
    assert {each.assistant.slug for each in explorers} == {"autorag-explorer"}
    assert set(called(explorers[0])) <= {"grep", "read"}


def test_j13_without_tokens_the_engine_says_so_and_not_that_nothing_is_there(demo: Tenant) -> None:
    demo.assistants.filter(slug="lead").update(turn_tokens=9000)

    thread = ask(demo, "How long does a refund take, and which supplier makes the zippers?")

    answer = turns.replies(thread)[-1]
    assert answer.startswith("The token budget of this request is used up, so I could not look any further.")
    assert "found nothing" not in answer and "Is this on the right lines?" in answer


def test_j33_the_steps_of_a_workflow_are_told_when_they_are_asked_for(demo: Tenant) -> None:
    thread = ask(demo, "Which steps does a quality incident with a faulty batch take?")

    told = turns.replies(thread)[-1]
    assert called(thread) == ["find_graph_workflow", "get_graph_workflow"]
    assert "1. **Collect the returns** (returns)" in told and "3. **Block the batch** (done by a person)" in told


def test_j33_j37_a_workflow_is_started_recorded_and_taken_up_again(demo: Tenant) -> None:
    thread = ask(demo, "Start the workflow quality incident for the zippers")
    first = turns.replies(thread)[-1]
    before = called(thread)

    person = User.objects.get(memberships__tenant=demo, memberships__role="admin")
    lifecycle.send_message(thread, author=person, text="How far is the workflow?")
    turns.run_all()

    assert before == [
        "find_graph_workflow", "get_graph_workflow", "get_workflow_progress", "invoke_assistant", "record_workflow_step",
    ]  # fmt: skip
    assert "**Collect the returns** (returns)" in first and "✓ done" in first
    assert "Next: **Work out the rate** (lead)." in first and "Next: **Work out the rate** (lead)." in turns.replies(thread)[-1]


def test_j33_a_workflow_that_nobody_knows_is_said_not_to_be_known(demo: Tenant) -> None:
    thread = ask(demo, "Start the workflow for xylophone lessons")

    assert called(thread) == ["find_graph_workflow"] and "I know no workflow" in turns.replies(thread)[-1]


def test_j33_steps_that_stand_in_a_document_are_looked_up_there(demo: Tenant) -> None:
    thread = ask(demo, "Which steps does a refund take?")

    assert "find_graph_workflow" in called(thread) and "get_graph_workflow" not in called(thread)
    assert "5 working days" in turns.replies(thread)[-1]
