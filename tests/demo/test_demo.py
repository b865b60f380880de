"""`manage.py demo`: a tenant to try everything on, made once, in English or German."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command

from assistants.demo.cast import CASTS
from assistants.llm import scripted
from assistants.llm.script import parse_script
from assistants.models import Assistant, DocumentRoot, LLMProfile, Tenant, Thread, User
from assistants.tools.registry import find_tool
from assistants.turns import lifecycle, questions
from tests.kit.turns import last_turn, replies, run_all

SCRIPTS = Path(__file__).parents[2] / "assistants" / "demo" / "scripts"


@pytest.fixture
def in_no_time():
    """The demo's scripts without their pauses."""
    for path in SCRIPTS.glob("*.json"):
        scripted.register(path.stem, re.sub(r'"(delay_ms|first_ms)": \d+', r'"\1": 0', path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_demo_has_a_lead_three_specialists_a_researcher_a_public_assistant_and_documents(db, language):
    call_command("demo", "--language", language, verbosity=0)

    tenant = Tenant.objects.get(slug="demo")
    assert list(tenant.assistants.filter(public=False).order_by("slug").values_list("slug", flat=True)) == [
        "lead",
        "logistics",
        "purchasing",
        "research",
        "returns",
    ]
    assert tenant.assistants.get(public=True).slug == "helpdesk"
    for root in DocumentRoot.objects.filter(tenant=tenant):
        assert len(list(Path(root.path).rglob("*.*"))) >= 3, root.path


def test_running_it_again_changes_nothing_that_a_person_has_set(db):
    call_command("demo", verbosity=0)
    Assistant.objects.filter(slug="lead").update(instructions="My own words.")
    before = (User.objects.count(), Assistant.objects.count(), DocumentRoot.objects.count())

    call_command("demo", verbosity=0)

    assert Assistant.objects.get(slug="lead").instructions == "My own words."
    assert (User.objects.count(), Assistant.objects.count(), DocumentRoot.objects.count()) == before


def test_every_tool_of_the_cast_exists_and_the_public_assistant_can_not_delegate():
    for cast in CASTS.values():
        for part in cast.parts:
            tools = [find_tool(name) for name in part.tools]
            assert None not in tools, part.tools
            assert not (part.public and any(tool.delegates for tool in tools))


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_script_of_the_demo_can_be_read(path):
    parse_script(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "Why did returns jump in week 47?"), ("de", "Warum sind die Retouren in Woche 47 gestiegen?")],
)
def test_the_scripted_demo_plays_its_story_to_the_end(db, in_no_time, language, question):
    call_command("demo", "--scripted", "--language", language, verbosity=0)
    lead, admin = Assistant.objects.get(slug="lead"), User.objects.get(username="admin")
    thread = lifecycle.open_thread(lead, owner=admin, text=question)
    run_all()
    call = last_turn(thread).calls.get()

    questions.answer(call, by=admin, chosen=call.arguments["options"][:1], text="")
    run_all()

    states = sorted(Thread.objects.filter(parent=thread).values_list("turns__reason", flat=True))
    assert states == ["", "", "hand_back"]
    assert "118" in replies(thread)[-1]


def test_without_scripted_the_scripts_are_taken_away_again(db):
    call_command("demo", "--scripted", verbosity=0)
    assert LLMProfile.objects.filter(provider="scripted").exists()

    call_command("demo", verbosity=0)

    assert not LLMProfile.objects.exists() and Assistant.objects.get(slug="lead").profile is None
