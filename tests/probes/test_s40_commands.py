"""S40: no assistant runs code or commands, and nobody but the site's superuser names one that runs beside it."""

import ast
from pathlib import Path

import pytest

from assistants.tools.registry import all_tools
from subchats.models import LocalDiscovery
from tests.kit.browsers import signed_in

ROOT = Path(__file__).resolve().parents[2]
# Who may start a process: what keeps the site running, what converts documents within limits, the superuser's own program.
STARTERS = {
    "assistants/management/private_servers.py",
    "assistants/management/supervisor.py",
    "assistants/management/team.py",
    "assistants/management/commands/team.py",
    "assistants/documents/conversion/converter.py",
    "subchats/research/find_command.py",
}
FORBIDDEN_CALLS = {"eval", "exec", "__import__", "compile"}
STARTING = {"subprocess", "os.system", "os.popen", "os.spawnv", "os.posix_spawn", "pty", "pickle", "marshal", "shelve"}


def modules():
    for folder in ("assistants", "subchats", "taskmonkey"):
        for path in (ROOT / folder).rglob("*.py"):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def names_in(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def test_s40_only_what_must_starts_processes_and_nothing_unpickles():
    found = {path for path, tree in modules() if STARTING & set(names_in(tree))}

    assert found == STARTERS


def test_s40_nothing_runs_text_as_code():
    calls = [
        (path, node.func.id)
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS
    ]

    assert calls == []


def test_s40_no_tool_takes_code_or_a_command():
    words = {"code", "command", "script", "python", "shell", "cmd", "argv"}
    for tool in all_tools():
        assert not words & set(tool.arguments.model_fields), tool.name
        assert not words & set(tool.name.split("_")), tool.name


@pytest.mark.parametrize("name", ["alice", "bob", "rita", "charlie"])
def test_s40_a_command_beside_the_site_is_named_by_the_superuser_alone(ground, name):
    person = getattr(ground, name)
    person.is_staff = True
    person.save()
    made = LocalDiscovery.objects.create(tenant=ground.apes, command="/bin/echo {root} {query}")
    browser = signed_in(person)
    data = {"tenant": ground.apes.pk, "command": "/bin/sh -c {root} {query}", "enabled": "on"}

    answers = [
        browser.post("/admin/subchats/localdiscovery/add/", data),
        browser.post(f"/admin/subchats/localdiscovery/{made.pk}/change/", data),
    ]

    assert {answer.status_code for answer in answers} <= {302, 403, 404}
    assert [each.command for each in LocalDiscovery.objects.all()] == ["/bin/echo {root} {query}"]
