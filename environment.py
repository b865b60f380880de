"""The environment that everything runs in: a folder .venv with what a lock names, and Debian packages where nobody need ask."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "synced.txt"
RUN_LOCK, TEST_LOCK = ROOT / "requirements.txt", ROOT / "requirements-dev.txt"
PYTHONS = ("python3.13", "python3.12", "python3.11", "python3", "python")
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


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


def find_service(program: str, package: str) -> str:
    """Looks for a server program, installs it where that needs no question (root on Debian), or says what to install."""

    def found() -> bool:
        return shutil.which(program) is not None or any(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))

    if not found():
        apt_install(package)
    return "" if found() else f"There is no {program} on this machine; on Debian and Ubuntu: apt install {package}"


def find_services() -> str:
    """The same for both servers of the full profile; says what is missing."""
    wanted = {"initdb": "postgresql", "redis-server": "redis-server"}
    return " ".join(filter(None, (find_service(program, package) for program, package in wanted.items())))


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
