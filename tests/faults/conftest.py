"""The stub model and the template database that every kill test starts from."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.cluster import ROOT, Cluster
from tests.kit.stub_llm import StubLLM


@pytest.fixture(scope="session")
def stub():
    with StubLLM() as server:
        yield server


@pytest.fixture(scope="session")
def template(tmp_path_factory, stub) -> tuple[Path, str]:
    """A migrated home with one user, three assistants and a session; made once."""
    home = tmp_path_factory.mktemp("template") / "home"
    home.mkdir()
    blank = Cluster.__new__(Cluster)
    blank.home, blank.ledger = home, home / "ledger.jsonl"
    environment = {**blank.environment(), "STUB_URL": stub.url}
    made = subprocess.run(
        [sys.executable, "-m", "tests.faults.prepare"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return home, made.stdout.strip().splitlines()[-1]


@pytest.fixture
def llm(stub):
    stub.clear()
    return stub


@pytest.fixture
def cluster(tmp_path, template, llm):
    made = Cluster(tmp_path / "home", *template)
    yield made
    if made.process and made.process.poll() is None:
        made.kill()
