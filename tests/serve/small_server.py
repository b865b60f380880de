"""A supervisor over a server of a few lines, whose manners the command line decides: DIARY MANNER [GRACE]."""

import argparse
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from assistants.management.supervisor import Supervisor, die_with

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def supervise(diary: Path, manner: str, grace: float) -> int:
    listener = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-m", "tests.serve.small_server", str(diary), manner]
    note(diary, f"port {listener.getsockname()[1]}")
    told = {"first": ["--as=first"], "later": ["--as=later"]}
    return Supervisor(
        command, listener=listener, on_answer=lambda said: note(diary, f"answered {said}"), grace=grace, **told
    ).run()


def serve(diary: Path, manner: str, listener: socket.socket, lifeline: int, notice: int | None, number: str) -> None:
    threading.Thread(target=die_with, args=(lifeline,), daemon=True).start()
    if manner == "broken":
        sys.exit(3)
    if manner == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if notice is not None:
        with open(notice, "w") as pipe:
            pipe.write(f"by {os.getpid()}")
    note(diary, f"as {number}")
    if manner == "doomed" and len(diary.read_text().split("as first")) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    # Only now: whoever reads the line may count on the manners above.
    note(diary, f"child {os.getpid()}")
    while True:
        line, _ = listener.accept()
        if b"/leave" in line.recv(1000):
            sys.exit(0)
        line.sendall(REPLY)
        line.close()


def note(diary: Path, text: str) -> None:
    with diary.open("a") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("diary", type=Path)
    parser.add_argument("manner")
    parser.add_argument("grace", type=float, nargs="?", default=5.0)
    parser.add_argument("--listener-fd", type=int)
    parser.add_argument("--lifeline-fd", type=int)
    parser.add_argument("--notice-fd", type=int)
    parser.add_argument("--as", dest="number")
    given = parser.parse_args()
    if given.listener_fd is None:
        sys.exit(supervise(given.diary, given.manner, given.grace))
    serve(given.diary, given.manner, socket.socket(fileno=given.listener_fd), given.lifeline_fd, given.notice_fd, given.number)
