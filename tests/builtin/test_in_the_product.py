"""The engine as the product runs it: real tools, a real folder in the tenant, sub-chats in the record."""

from pathlib import Path

import pytest

from assistants.models import Assistant, DocumentRoot, LLMProfile, Thread, ToolCall
from assistants.turns import questions
from tests.builtin.handbook import ENGLISH, TEAM
from tests.kit import turns
from tests.kit.world import World

# A tool runs in a thread of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)
LOOKING = ["search_documents", "read_document"]


@pytest.fixture
def office(ground: World, tmp_path: Path) -> World:
    """The apes with a folder of documents, a lead and three specialists, all on the built-in engine."""
    for name, text in ENGLISH.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    DocumentRoot.objects.create(tenant=ground.apes, name="office", path=str(tmp_path))
    profile = LLMProfile.objects.create(
        tenant=ground.apes, name="Built in", provider="builtin", model="builtin", makes_titles=False
    )
    for staff in TEAM[1:]:
        ground.assistant(
            staff.slug, name=staff.name, description=staff.description, tools=[*LOOKING, "hand_back"], profile=profile
        )
    ground.lead.profile = profile
    ground.lead.tools = [*LOOKING, "ask_clarifying_question", "invoke_assistant", "spawn_agent", "current_time"]
    ground.lead.save()
    return ground


def ask(office: World, text: str) -> Thread:
    thread = office.open(text)
    turns.run_all()
    return thread


def called(thread: Thread) -> list[str]:
    return [call.name for call in ToolCall.objects.filter(turn__thread=thread).order_by("turn_id", "round", "index")]


def test_a_question_is_delegated_and_comes_back_with_quotes(office: World) -> None:
    thread = ask(office, "What happens if I lose my laptop?")

    child = Thread.objects.get(parent=thread)
    assert child.assistant == Assistant.objects.get(slug="it-help")
    assert called(child) == ["search_documents"]
    assert turns.replies(thread)[-1].startswith("**IT Help** reports:")
    assert "> **Report a lost or stolen laptop to the IT help desk at once, by phone: 4711.**" in turns.replies(thread)[-1]
    assert "— office/it/security.md, line 3" in turns.replies(thread)[-1]


def test_two_parts_run_in_two_sub_chats(office: World) -> None:
    thread = ask(office, "What is the notice period and how do I book a flight?")

    slugs = Thread.objects.filter(parent=thread).values_list("assistant__slug", flat=True)
    answer = turns.replies(thread)[-1]
    assert sorted(slugs) == ["people", "travel"]
    assert "the notice period is 3 months to the end of a quarter" in answer and "booked through the travel desk" in answer


def test_j20_a_child_hands_back_and_the_lead_looks_itself(office: World) -> None:
    thread = ask(office, "@travel how long must passwords be at the airport for pilots?")

    assert called(thread)[:1] == ["invoke_assistant"]
    assert turns.replies(thread)[-1]


def test_j26_a_word_with_two_readings_is_asked_back_and_the_answer_goes_on(office: World) -> None:
    thread = ask(office, "approval")
    call = ToolCall.objects.get(turn__thread=thread, name="ask_clarifying_question")

    questions.answer(call, by=office.alice, chosen=[call.arguments["options"][0]], text="")
    turns.run_all()

    assert len(call.arguments["options"]) >= 2
    assert turns.replies(thread)[-1].startswith("`office/") or "documents say this" in turns.replies(thread)[-1]


def test_nothing_in_the_folder_is_said(office: World) -> None:
    thread = ask(office, "What is the capital of France?")

    assert turns.replies(thread)[-1].startswith("I found nothing about “capital” and “France” in the documents.")


def test_no_folder_is_said_with_what_to_do(office: World) -> None:
    DocumentRoot.objects.all().delete()

    thread = ask(office, "What is the capital of France?")

    assert turns.replies(thread)[-1].startswith("There are no documents here yet.")


def test_a_file_is_opened_by_its_bare_name_in_the_product(office: World) -> None:
    thread = ask(office, "open security.md")

    assert called(thread) == ["read_document"]
    assert turns.replies(thread)[-1].startswith("`office/it/security.md` says:")


def test_a_wrong_file_name_brings_the_near_ones(office: World) -> None:
    thread = ask(office, "open secruity.md")

    assert "`office/it/security.md`" in turns.replies(thread)[-1]
