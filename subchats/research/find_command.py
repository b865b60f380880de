"""Runs a team's local discovery for one folder: no shell, no secrets, bounded in time and in what it may say (A-33, A-35)."""

import contextlib
import os
import resource
import shlex
import signal
import subprocess
import tempfile

from assistants.errors import CodedError

SECONDS = 10.0
MOST_ANSWERED = 1024 * 1024
MOST_MEMORY = 2 * 1024**3
ROOT, QUERY = "{root}", "{query}"
_PASSED = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR")


class FindFailed(Exception):
    """The command gave no answer; says in a few words why, without any query or path."""


def check_command(command: str) -> list[str]:
    """The command as its arguments. Raises `COMMAND_INVALID` with what is to be mended."""
    try:
        parts = shlex.split(command)
    except ValueError:
        raise _invalid("The quotes in it do not close.") from None
    if not parts or not os.path.isabs(parts[0]):
        raise _invalid("It has to begin with a program's absolute path.")
    if not os.access(parts[0], os.X_OK) or not os.path.isfile(parts[0]):
        raise _invalid("There is no such program on this server, or it may not be run.")
    if ROOT not in parts or QUERY not in parts:
        raise _invalid(f"It has to name {ROOT} and {QUERY}, each as an argument of its own.")
    return parts


def run_find(command: str, *, root: str, query: str, seconds: float = SECONDS) -> str:
    """What the command says of the folder at this real path, as text. Raises `FindFailed`."""
    # An argument that begins with a dash would be an option.
    words = query.replace("\0", " ").lstrip("- \t\n")
    known = {ROOT: root, QUERY: words}
    parts = [known.get(part, part) for part in shlex.split(command)]
    with tempfile.TemporaryFile() as answer:
        try:
            process = subprocess.Popen(
                parts,
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                cwd=root,
                env={name: os.environ[name] for name in _PASSED if name in os.environ},
                start_new_session=True,
            )
        except OSError as error:
            raise FindFailed(f"It can't be started ({type(error).__name__}).") from None
        _wait(process, seconds)
        answer.seek(0)
        data = answer.read(MOST_ANSWERED + 1)
    if len(data) > MOST_ANSWERED:
        raise FindFailed("It says too much.")
    return data.decode("utf-8", "replace")


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    # It may have ended already.
    with contextlib.suppress(ProcessLookupError):
        for limit, most in ((resource.RLIMIT_FSIZE, MOST_ANSWERED + 1), (resource.RLIMIT_AS, MOST_MEMORY)):
            resource.prlimit(process.pid, limit, (most, most))
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise FindFailed(f"It gave no answer within {seconds:g} seconds.") from None
    finally:
        _end(process)
    if code:
        raise FindFailed(f"It ended with code {code}.")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The whole group: what it started itself ends with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _invalid(message: str) -> CodedError:
    fix = f"Enter a program and its arguments, such as /usr/local/bin/find-documents {ROOT} {QUERY} --json."
    return CodedError(code="COMMAND_INVALID", field="command", message=message, fix=fix)
