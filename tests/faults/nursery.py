"""Starts the servers of the kill tests as forks of a process that has their libraries loaded: a start costs a quarter."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pygments.lexers import get_lexer_by_name

from assistants.rendering.languages import LANGUAGES

ROOT = Path(__file__).parents[2]
PR_SET_PDEATHSIG = 1
# Libraries only, and none that opens a file, starts a thread or reads the settings as it is imported.
LIBRARIES = (
    "django.core.management", "django.db.models", "django.contrib.admin.utils", "pydantic_ai", "pydantic_ai.models.openai",
    "openai", "httpx", "httpx2", "redis.asyncio", "celery.app.base", "celery.worker", "celery.concurrency.thread",
    "kombu.transport.redis", "psycopg", "psycopg_pool", "twisted.internet.asyncioreactor", "twisted.internet.tcp",
    "twisted.internet.endpoints", "twisted.web.http", "autobahn.websocket.protocol", "pygments.lexers", "markdown_it", "nh3",
    "channels.layers", "pydantic_ai.direct", "pydantic_ai.models.function", "pydantic_ai.providers.openai", "celery.bin",
    "celery.apps.worker", "cryptography.fernet", "openai.resources.chat.completions", "pygments.formatters.html", "regex",
    "mdit_py_plugins.gfm_autolink", "mdit_py_plugins.dollarmath", "wsgiref.headers", "sqlite3", "simpleeval",
)  # fmt: skip


class Child:
    """One server that the nursery started."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery, self.pid = nursery, pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it lives."""
        if self._code is None:
            self._code = self._nursery.ask(poll=self.pid)["code"]
        return self._code

    def send(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Nursery:
    """The process that forks, and the line to it. Everything it started dies with it, and it dies with this process."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        command = [sys.executable, "-m", "tests.faults.nursery", str(theirs.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()

    def start(self, arguments: Sequence[str], environment: dict[str, str], log: Path, handles: Sequence[int] = ()) -> Child:
        """Runs `manage.py` with these arguments; `{0}` in one of them becomes the number that the first handle has there."""
        with open(log, "ab") as output:
            sent = [output.fileno(), *handles]
            return Child(self, self.ask(sent, arguments=list(arguments), environment=environment)["pid"])

    def run(self, module: str, environment: dict[str, str], log: Path) -> int:
        """Runs `python -m module` to its end; gives the exit code."""
        with open(log, "ab") as output:
            child = Child(self, self.ask([output.fileno()], module=module, environment=environment)["pid"])
        while (code := child.poll()) is None:
            threading.Event().wait(0.02)
        return code

    def ask(self, handles: Sequence[int] = (), **question: Any) -> Any:
        with self._lock:
            socket.send_fds(self._line, [json.dumps(question).encode()], handles)
            return json.loads(self._line.recv(65536))

    def close(self) -> None:
        self._line.close()
        self._process.wait(30)


def serve(line: socket.socket) -> None:
    """Answers until the other end is closed."""
    while True:
        data, handles, _, _ = socket.recv_fds(line, 65536, 8)
        if not data:
            return
        question = json.loads(data)
        if "poll" in question:
            pid, status = os.waitpid(question["poll"], os.WNOHANG)
            line.send(json.dumps({"code": os.waitstatus_to_exitcode(status) if pid else None}).encode())
            continue
        if pid := os.fork():
            for handle in handles:
                os.close(handle)
            line.send(json.dumps({"pid": pid}).encode())
        else:
            line.close()
            become(question, handles)


def become(question: dict[str, Any], handles: list[int]) -> None:
    """In the fork: takes the place of a program that was started from a shell."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    output, *rest = handles
    for target in (1, 2):
        os.dup2(output, target)
    os.environ.clear()
    os.environ.update(question["environment"])
    code = 1
    try:
        if module := question.get("module"):
            importlib.import_module(module)
        else:
            from django.core.management import execute_from_command_line

            execute_from_command_line(["manage.py", *(part.format(*rest) for part in question["arguments"])])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        if code and end.code is not code:
            print(end.code, file=sys.stderr)
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for library in LIBRARIES:
        importlib.import_module(library)
    for language in LANGUAGES:
        # Its tables are made as it is first used.
        get_lexer_by_name(language)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    serve(socket.socket(fileno=int(sys.argv[1])))
