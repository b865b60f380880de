"""What the Makefile's targets do, with nothing but the standard library: `python3 make.py run`, `test` and so on."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "synced.txt"
RUN_LOCK, TEST_LOCK = ROOT / "requirements.txt", ROOT / "requirements-dev.txt"
PYTHONS = ("python3.13", "python3.12", "python3.11", "python3", "python")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STAGE_SECONDS = 40 * 60
# What asks most of a database, tried on PostgreSQL too; all of it by hand: python -m tests.kit.postgres -m pytest tests
ON_POSTGRES = (
    "tests/postgres tests/turns tests/subchats tests/steering tests/budget tests/approvals tests/planning tests/conversations"
    " tests/taint tests/journeys tests/reports tests/documents/test_searching.py tests/documents/test_indexing.py"
    " tests/tables/test_keeping_tables.py tests/workflows/test_progress.py tests/probes/test_s10_search.py"
).split()
IMPORTS = "from importlinter.cli import lint_imports_command as run; run(['--no-logo'])"
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
# A developer's shell must decide nothing about a test: no keys, no other settings, no proxy before the loopback.
LEAKS = (
    *("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "TASKMONKEY_", "DJANGO_", "ASGI_", "DATABASE_", "REDIS_", "PG"),
    *("PYTHON", "PYTEST_", "MYPY", "RUFF_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)


def run() -> int:
    """Installs what the lock names, brings the data up to date, and serves (PORT, BIND, DEMO_LANGUAGE)."""
    install(RUN_LOCK)
    port, host, language = (os.environ.get(name) for name in ("PORT", "BIND", "DEMO_LANGUAGE"))
    arguments = [f"--port={port or 8000}", f"--host={host or '127.0.0.1'}", f"--language={language or 'en'}"]
    os.chdir(ROOT)
    sys.stdout.flush()
    # Replaced by the server, so that a signal to this process reaches the supervisor.
    os.execve(PYTHON, [str(PYTHON), "manage.py", "serve", "--prepare", *arguments], own_environment())


def team() -> int:
    """Serves like `run`, by PostgreSQL, Redis, two web processes and two workers here (PORT, BIND, DEMO_LANGUAGE)."""
    install(RUN_LOCK)
    for program, package in (("initdb", "postgresql"), ("redis-server", "redis-server")):
        if missing := find_service(program, package):
            sys.exit(say(missing, 1))
    port, host, language = (os.environ.get(name) for name in ("PORT", "BIND", "DEMO_LANGUAGE"))
    arguments = [f"--port={port or 8000}", f"--host={host or '127.0.0.1'}", f"--language={language or 'en'}"]
    environment = own_environment()
    environment.setdefault("TASKMONKEY_HOME", str(ROOT / "data" / "team"))
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execve(PYTHON, [str(PYTHON), "manage.py", "team", *arguments], environment)


def test() -> int:
    """Checks everything: the fast part, then the kill -9 tests and the browser tests, each in a process of their own."""
    install(TEST_LOCK)
    # Sync Playwright runs a loop in the thread that uses the ORM.
    browser = pytest("browser", "tests/browser", missing=find_browser(), DJANGO_ALLOW_ASYNC_UNSAFE="1")
    return check([*fast_stages(), postgres(), pytest("faults", "tests/faults"), browser])


def fast() -> int:
    """Checks style, types, layers and migrations, and runs the tests that need neither a browser nor a kill -9."""
    install(TEST_LOCK)
    return check(fast_stages())


def compile_locks() -> int:
    """Compiles both requirements files with hashes (UPGRADE=1 takes newer releases; else only what the .in files ask for)."""
    install(TEST_LOCK)
    compile_ = [PYTHON, "-m", "uv", "pip", "compile", "--universal", "--generate-hashes", "--no-emit-index-url", "--quiet"]
    compile_ += ["--python-version=3.11", "--custom-compile-command=make lock"]
    if os.environ.get("UPGRADE"):
        compile_ += ["--upgrade"]
    for name, more in (("requirements", []), ("requirements-dev", ["--constraint=requirements.txt"])):
        subprocess.run([*compile_, *more, f"{name}.in", f"--output-file={name}.txt"], cwd=ROOT, check=True)
    return 0


def lay_out() -> int:
    """Lays the code out as the checks want it, and mends what can be mended without asking."""
    install(TEST_LOCK)
    for command in (["check", "--fix"], ["format"]):
        subprocess.run([PYTHON, "-m", "ruff", *command], cwd=ROOT)
    return 0


def draw_map() -> int:
    """Copies every module's caption into docs/architecture.md."""
    install(TEST_LOCK)
    return subprocess.run([PYTHON, "docs/map.py"], cwd=ROOT).returncode


def bench() -> int:
    """Measures TaskMonkey next to a bare relay on this machine."""
    install(TEST_LOCK)
    return subprocess.run([PYTHON, "-m", "bench"], cwd=ROOT).returncode


def clean() -> int:
    """Removes what was made by these commands: the environment and the caches, not the data."""
    for path in (
        VENV,
        *(ROOT / f".{tool}_cache" for tool in ("pytest", "mypy", "ruff", "import_linter")),
        ROOT / ".hypothesis",
    ):
        shutil.rmtree(path, ignore_errors=True)
    return 0


# --- the environment -------------------------------------------------------------------------------------------------
def install(lock: Path) -> None:
    """Makes the environment if it isn't there, and syncs it with the lock if that has changed."""
    if not works(PYTHON):
        make_environment()
    wanted = digest(lock)
    if STAMP.exists() and wanted in STAMP.read_text().split():
        return
    say("Installing what TaskMonkey needs (only when that has changed) ...")
    environment = own_environment()
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
    sync = [PYTHON, "-m", "uv", "pip", "sync", "--quiet", "--require-hashes", f"--python={PYTHON}", lock]
    for command in (pip, sync):
        if subprocess.run(command, cwd=ROOT, env=environment).returncode:
            sys.exit(say("That failed, see above. It needs the Python package registry the first time.", 1))
    # The test lock holds all of the other one.
    STAMP.write_text("\n".join({wanted, digest(RUN_LOCK)}))


def make_environment() -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    complaint = "No Python from 3.11 up was found."
    for name in PYTHONS:
        found = shutil.which(name)
        if found is None or not works(found):
            continue
        done = subprocess.run([found, "-m", "venv", VENV], env=own_environment(), capture_output=True, text=True)
        if done.returncode == 0:
            return
        complaint = f"{found} can't make a virtual environment:\n{done.stdout}{done.stderr}"
        shutil.rmtree(VENV, ignore_errors=True)
    sys.exit(say(f"{complaint}\nOn Debian and Ubuntu: apt install python3 python3-venv", 1))


def works(python: Path | str) -> bool:
    question = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([python, "-c", question], env=own_environment(), capture_output=True).returncode == 0
    except OSError:
        return False


def own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in FOREIGN}


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


# --- the checks ------------------------------------------------------------------------------------------------------
class Stage:
    """One part of the checks: a command, and how many tests of it passed, failed and were skipped."""

    def __init__(self, name: str, *command: str, missing: str = "", **variables: str) -> None:
        self.name, self.command, self.missing, self.variables = name, command, missing, variables
        self.passed = self.failed = self.skipped = 0
        self.seconds = 0.0

    def run(self, home: Path) -> None:
        """Runs the command with a home of its own; its output goes to the terminal."""
        if self.missing:
            self.skipped = 1
            return
        print(f"\n--- {self.name}", flush=True)
        started = time.monotonic()
        report = home / "report.xml"
        reporting = [f"--junitxml={report}"] if "pytest" in self.command else []
        environment = test_environment(home) | self.variables
        try:
            done = subprocess.run([PYTHON, *self.command, *reporting], cwd=ROOT, env=environment, timeout=STAGE_SECONDS)
            code = done.returncode
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
    return [
        Stage("ruff check", "-m", "ruff", "check", "--quiet"),
        Stage("ruff format", "-m", "ruff", "format", "--check", "--quiet"),
        Stage("mypy", "-m", "mypy"),
        Stage("layers", "-c", IMPORTS),
        Stage("migrations", "manage.py", "makemigrations", "--check", "--dry-run", "--settings=tests.settings"),
        pytest("tests", workers=os.cpu_count() or 1),
    ]


def pytest(name: str, folder: str = "", *, workers: int = 1, missing: str = "", **variables: str) -> Stage:
    if folder and not any((ROOT / folder).rglob("test_*.py")):
        missing = f"there is no test in {folder}"
    options = [folder] if folder else []
    options += ["-n", str(workers)] if workers > 1 else []
    return Stage(name, "-m", "pytest", *options, missing=missing, **variables)


def postgres() -> Stage:
    """The same tests on a private PostgreSQL, installed where that needs no question (root on Debian)."""
    # Queries are counted on SQLite: where many write, a row is locked before what belongs to it is read.
    options = [*ON_POSTGRES, "--ignore=tests/turns/test_cost.py", "-n", str(os.cpu_count() or 1)]
    missing = find_service("initdb", "postgresql")
    return Stage("postgres", "-m", "tests.kit.postgres", "-m", "pytest", *options, missing=missing)


def check(stages: list[Stage]) -> int:
    """Runs every stage, also after one failed, and ends with one line of counts; returns 1 if anything failed."""
    with tempfile.TemporaryDirectory(prefix="taskmonkey-test-") as folder:
        for stage in stages:
            home = Path(folder, stage.name.replace(" ", "-"))
            home.mkdir()
            stage.run(home)
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


def find_service(program: str, package: str) -> str:
    """Looks for a server program, installs it where that needs no question (root on Debian), or says what to install."""

    def found() -> bool:
        return shutil.which(program) is not None or any(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))

    if not found():
        apt_install(package)
    return "" if found() else f"There is no {program} on this machine; on Debian and Ubuntu: apt install {package}"


def apt_install(package: str) -> None:
    """Installs a Debian package, as root only; elsewhere does nothing."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    say(f"Installing {package} ...")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", package]):
        subprocess.run(["apt-get", "--quiet", "--quiet", *command], env=environment, stdin=subprocess.DEVNULL)


def say(text: str, code: int = 0) -> int:
    print(text, flush=True)
    return code


if __name__ == "__main__":
    targets = {"run": run, "team": team, "test": test, "fast": fast, "clean": clean}
    targets |= {"lock": compile_locks, "format": lay_out, "map": draw_map, "bench": bench}
    if len(sys.argv) != 2 or sys.argv[1] not in targets:
        sys.exit(f"Say one of: {', '.join(targets)}")
    try:
        sys.exit(targets[sys.argv[1]]())
    except KeyboardInterrupt:
        sys.exit(130)
