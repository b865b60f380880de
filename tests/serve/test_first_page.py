"""A start loads what the first page needs, and the rest when that page is there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {"TASKMONKEY_HOME": str(home), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-m", "tests.serve.first_page"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_no_library_that_only_answers_need_is_loaded_before_the_first_page(told: dict[str, Any]) -> None:
    assert (told["status"], told["early"]) == (200, [])


def test_a_message_that_is_sent_at_once_has_them_loaded_by_its_own_thread_and_not_by_the_loop(told: dict[str, Any]) -> None:
    assert (told["loaded_by"], told["answered"]) == ("MainThread", True)
