"""The checks as stages: each is a command whose tests are counted, and one that fails stops no other."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment import PYTHON, ROOT, apt_install, find_service, find_services, own_environment, say

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STAGE_SECONDS = 40 * 60
# What asks most of a database, tried on PostgreSQL too; all of it by hand: python -m tests.kit.postgres -m pytest tests
ON_POSTGRES = (
    "tests/postgres tests/budget/test_at_once.py tests/subchats tests/journeys tests/turns/test_one_message.py"
    " tests/turns/test_take_over.py tests/turns/test_places.py tests/turns/test_questions.py"
    " tests/conversations/test_overview.py tests/documents/test_searching.py tests/probes/test_s10_search.py"
).split()
# What starts processes, waits, tries sizes, attacks or random trees, or plays whole stories: four fifths of the time.
LONG = (
    "tests/journals tests/journeys tests/llm tests/operations tests/outbound tests/probes tests/properties tests/reports"
    " tests/serve tests/steering tests/subchats tests/admin/test_checks.py tests/budget/test_random_trees.py"
    " tests/builtin/test_promises.py tests/builtin/test_researching.py tests/builtin/test_teamwork.py"
    " tests/conversations/test_news.py tests/documents/test_conversion.py tests/documents/test_formats.py"
    " tests/documents/test_passages.py tests/guard/test_time.py tests/rendering/test_code_blocks.py"
    " tests/rendering/test_growing_text.py tests/rendering/test_hostile_sizes.py tests/rendering/test_hostile_text.py"
    " tests/rendering/test_open_line.py tests/research/test_discovery.py tests/research/test_explorer_pages.py"
    " tests/research/test_explorer_tools.py tests/research/test_memory.py tests/research/test_pages.py"
    " tests/research/test_posix.py tests/research/test_seeds.py tests/tables/test_charts.py tests/tables/test_exports.py"
    " tests/tables/test_table_pages.py tests/toolbox/test_documents_tools.py tests/turns/test_relay.py"
).split()
IMPORTS = "from importlinter.cli import lint_imports_command as run; run(['--no-logo'])"
# A developer's shell must decide nothing about a test: no keys, no other settings, no proxy before the loopback.
LEAKS = (
    *("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "TASKMONKEY_", "DJANGO_", "ASGI_", "DATABASE_", "REDIS_", "PG"),
    *("PYTHON", "PYTEST_", "MYPY", "RUFF_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)


class Stage:
    """One part of the checks: a command, and how many tests of it passed, failed and were skipped.

    One that runs beside those that follow tells all that it has to say at its end.
    """

    def __init__(self, name: str, *command: str, missing: str = "", beside: bool = False, **variables: str) -> None:
        self.name, self.command, self.missing, self.beside, self.variables = name, command, missing, beside, variables
        self.passed = self.failed = self.skipped = 0
        self.seconds = 0.0

    def run(self, folder: str) -> None:
        """Runs the command with a home of its own in the folder; its output goes to the terminal."""
        if self.missing:
            self.skipped = 1
            return
        home = Path(folder, self.name.replace(" ", "-"))
        home.mkdir()
        if not self.beside:
            say(f"\n--- {self.name}")
        started = time.monotonic()
        report = home / "report.xml"
        reporting = [f"--junitxml={report}"] if "pytest" in self.command else []
        environment = test_environment(home) | self.variables
        try:
            kept = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if self.beside else {}
            command = [PYTHON, *self.command, *reporting]
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=STAGE_SECONDS, **kept)
            code = done.returncode
            if self.beside:
                say(f"\n--- {self.name}\n{done.stdout}")
        except subprocess.TimeoutExpired:
            code = say(f"It was ended after {STAGE_SECONDS // 60} minutes.", 1)
        self.seconds = time.monotonic() - started
        if report.exists():
            suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
            total, self.skipped, failures, errors = (
                sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "skipped", "failures", "errors")
            )
            self.failed = failures + errors
            self.passed = max(0, total - self.skipped - self.failed)
        elif code == 0:
            self.passed = 1
        # A run that broke off may have counted no failure.
        if code and not self.failed:
            self.failed = 1
            say(f"\n{self.name} broke off: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}")

    def __str__(self) -> str:
        told = self.missing or f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped, {self.seconds:.1f} s"
        mark = "SKIP" if self.missing else "FAIL" if self.failed else "ok"
        return f"  {mark:4}  {self.name:18}  {told}"


def fast_stages() -> list[Stage]:
    """Tests with limits of a few seconds are among the long ones, so that these can share the machine with mypy."""
    return [
        Stage("ruff check", "-m", "ruff", "check", "--quiet"),
        Stage("ruff format", "-m", "ruff", "format", "--check", "--quiet"),
        Stage("mypy", "-m", "mypy", beside=True),
        Stage("layers", "-c", IMPORTS),
        Stage("migrations", "manage.py", "makemigrations", "--check", "--dry-run", "--settings=tests.settings"),
        pytest("tests", *(f"--ignore={path}" for path in LONG)),
    ]


def long_stage() -> Stage:
    return pytest("long tests", *LONG)


def pytest(name: str, *options: str, workers: int = 0, missing: str = "", **variables: str) -> Stage:
    """Tests in so many processes (0: one a core). Each gets a row of neighbours, which share what is built for their file."""
    options += ("-n", str(workers or os.cpu_count() or 1), "--dist=worksteal")
    return Stage(name, "-m", "pytest", *options, missing=missing, **variables)


def faults_stage() -> Stage:
    """Real servers that are killed; those of the full profile need PostgreSQL and Redis, and are skipped without."""
    find_services()
    return pytest("faults", "tests/faults", workers=min(os.cpu_count() or 1, 4))


def postgres() -> Stage:
    """The same tests on a private PostgreSQL, installed where that needs no question (root on Debian)."""
    # Connections that were cut are waited for: there is always one more who can work meanwhile.
    options = [*ON_POSTGRES, "-n", str((os.cpu_count() or 1) + 1), "--dist=worksteal"]
    missing = find_service("initdb", "postgresql")
    return Stage("postgres", "-m", "tests.kit.postgres", "-m", "pytest", *options, missing=missing)


def check(*groups: list[Stage]) -> int:
    """Runs every stage, also after one failed, and ends with one line of counts; returns 1 if anything failed.

    A group begins when nothing of the one before runs any more.
    """
    stages = [stage for group in groups for stage in group]
    with tempfile.TemporaryDirectory(prefix="taskmonkey-test-") as folder:
        for group in groups:
            with ThreadPoolExecutor() as pool:
                beside = [pool.submit(stage.run, folder) for stage in group if stage.beside]
                for stage in group:
                    if not stage.beside:
                        stage.run(folder)
            for each in beside:
                each.result()
    print("\n" + "\n".join(str(stage) for stage in stages) + "\n")
    passed, failed, skipped = (sum(getattr(stage, key) for stage in stages) for key in ("passed", "failed", "skipped"))
    say(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def test_environment(home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in own_environment().items()
        if not name.upper().startswith(LEAKS) and not name.upper().endswith("_API_KEY")
    }
    return kept | {"TASKMONKEY_HOME": str(home), "TASKMONKEY_MODEL": "builtin"}


def find_browser() -> str:
    """Looks for Chromium, installs it where that needs no question (root on Debian), or says why the tests are skipped."""
    if any(shutil.which(name) for name in BROWSERS):
        return ""
    apt_install("chromium")
    if any(shutil.which(name) for name in BROWSERS):
        return ""
    return "no Chromium on this machine; install it (apt-get install chromium) to run these"
