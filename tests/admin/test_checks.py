"""What `manage.py check` finds in set-ups that came in past the forms."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from assistants.checks import check_setups
from assistants.models import Domain, LLMProfile
from subchats.checks import check_delegation
from tests.kit import turns

ROOT = Path(__file__).resolve().parents[2]


def found() -> set[str]:
    return {message.id for message in check_setups()}


def test_a_sound_set_up_has_nothing_to_report(ground) -> None:
    assert found() == set()
    assert check_delegation() == []


@pytest.mark.parametrize("tool", ["invoke_assistant", "spawn_agent"])
def test_t03_a_public_assistant_with_a_delegation_tool_fails_the_check(ground, tool) -> None:
    """Journey 15, the second of three walls: the start-up check fails."""
    ground.assistant("guide", public=True, tools=["current_time", tool])

    with pytest.raises(SystemCheckError, match=f"A public assistant can't have {tool}"):
        call_command("check")


def test_t03_a_public_assistant_with_a_delegation_tool_is_refused_at_run_time(ground) -> None:
    """Journey 15, the third of three walls: the call is refused, and no thread is made for it."""
    guide = ground.assistant(
        "guide",
        public=True,
        tools=["invoke_assistant"],
        script=[{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "lead", "task": "Do it."}}]}, "Then not."],
    )
    thread = ground.open(assistant=guide)

    turns.run_all()

    call = thread.turns.get().calls.get()
    assert (call.outcome, call.code) == ("refused", "TOOL_NOT_ALLOWED")
    assert not thread.children.exists()
    assert turns.replies(thread)[-1] == "Then not."


def test_what_crosses_the_border_of_a_tenant_fails_the_check(ground) -> None:
    bear = ground.assistant("bear", tenant=ground.bears)
    ground.lead.profile = LLMProfile.objects.create(tenant=ground.bears, name="B", provider="builtin")
    ground.lead.domain = Domain.objects.create(tenant=ground.bears, slug="b", name="B", supervisor=ground.lead)
    ground.lead.save()
    ground.lead.delegates.add(bear)
    ground.apes.default_profile = ground.lead.profile
    ground.apes.save()

    assert found() == {"assistants.E002", "assistants.E003", "assistants.E004", "assistants.E005"}
    with pytest.raises(SystemCheckError):
        call_command("check")


def test_what_leads_nowhere_is_a_warning_and_does_not_stop_the_start(ground, capsys) -> None:
    law, guide = ground.assistant("law", tools=["gone_tool"], max_steps=500), ground.assistant("guide", public=True)
    ground.lead.delegates.add(law, guide, ground.lead)
    law.delegates.add(ground.lead)
    Domain.objects.create(tenant=ground.apes, slug="work", name="Work", supervisor=law)

    call_command("check")

    assert found() == {f"assistants.W00{number}" for number in range(1, 8)}
    assert "lead → law → lead" in capsys.readouterr().err


def test_t02_delegates_without_a_tool_to_call_them_are_a_warning(ground) -> None:
    law = ground.assistant("law", tools=["current_time"])
    law.delegates.add(ground.assistant("prices"))

    assert [message.id for message in check_delegation()] == ["subchats.W001"]


def test_before_the_first_migration_there_is_nothing_to_check(tmp_path) -> None:
    environment = {**os.environ, "TASKMONKEY_HOME": str(tmp_path)}

    done = subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "System check identified no issues (0 silenced).\n"), done.stderr
