"""Which sides there are, and how each is started."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from bench import chainlit_side
from bench.chainlit_side import Chainlit
from bench.floor import Channels, Floor
from bench.ours import Ours
from bench.sides import Side

OURS = Ours.name
BESIDE: dict[str, Callable[[int, Path], Side]] = {
    "relay": Floor,
    "channels": Channels,
    "chainlit": lambda upstream, folder: Chainlit(upstream, folder, reader="library"),
    "chainlit-raw": lambda upstream, folder: Chainlit(upstream, folder, reader="raw"),
}


def installed(names: Iterable[str]) -> list[str]:
    """Those of them that can be started here; says which are left out."""
    found = []
    for name in names:
        if name.startswith("chainlit") and not chainlit_side.PYTHON:
            print(f"{name} is left out: BENCH_CHAINLIT_PYTHON names no interpreter", file=sys.stderr)
        else:
            found.append(name)
    return found


def start(name: str, upstream: int, folder: Path, *, people: int, chats: int, how: str = "process") -> Side:
    """Starts one side's server; ours gets accounts for so many people with so many empty conversations each."""
    if name == OURS:
        return Ours(upstream, folder, people=people, chats=chats, how=how)
    return BESIDE[name](upstream, folder)
