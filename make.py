"""What the Makefile's targets do, with nothing but the standard library: `python3 make.py run`, `test` and so on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from environment import PYTHON, ROOT, RUN_LOCK, TEST_LOCK, VENV, find_services, install, own_environment, say
from stages import check, fast_stages, faults_stage, find_browser, long_stage, postgres, pytest


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
    if missing := find_services():
        sys.exit(say(missing, 1))
    port, host, language = (os.environ.get(name) for name in ("PORT", "BIND", "DEMO_LANGUAGE"))
    arguments = [f"--port={port or 8000}", f"--host={host or '127.0.0.1'}", f"--language={language or 'en'}"]
    environment = own_environment()
    environment.setdefault("TASKMONKEY_HOME", str(ROOT / "data" / "team"))
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execve(PYTHON, [str(PYTHON), "manage.py", "team", *arguments], environment)


def test() -> int:
    """Checks everything: the fast part, the long tests, then PostgreSQL, kill -9 and a browser, each by itself."""
    install(TEST_LOCK)
    # Sync Playwright runs a loop in the thread that uses the ORM.
    browser = pytest(
        "browser", "tests/browser", workers=min(os.cpu_count() or 1, 2), missing=find_browser(), DJANGO_ALLOW_ASYNC_UNSAFE="1"
    )
    return check(fast_stages(), [long_stage(), postgres(), faults_stage(), browser])


def fast() -> int:
    """Checks style, types, layers and migrations, and runs the tests that take no time: for every change."""
    install(TEST_LOCK)
    return check(fast_stages())


def faults() -> int:
    """Kills and measures for a long time (MINUTES of kills, REPEAT of all else, SEED), and writes docs/promises.md; or
    one promise of it anew (ONLY=P9)."""
    install(TEST_LOCK)
    find_services()
    chosen = [f"--{name.lower()}={value}" for name in ("MINUTES", "REPEAT", "SEED", "ONLY") if (value := os.environ.get(name))]
    return subprocess.run([PYTHON, "-m", "tests.faults", *chosen], cwd=ROOT, env=own_environment()).returncode


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


if __name__ == "__main__":
    targets = {"run": run, "team": team, "test": test, "fast": fast, "clean": clean}
    targets |= {"lock": compile_locks, "format": lay_out, "map": draw_map, "bench": bench, "faults": faults}
    if len(sys.argv) != 2 or sys.argv[1] not in targets:
        sys.exit(f"Say one of: {', '.join(targets)}")
    try:
        sys.exit(targets[sys.argv[1]]())
    except KeyboardInterrupt:
        sys.exit(130)
