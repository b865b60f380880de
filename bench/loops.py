"""The event loop of the floor and the upstream: uvloop where it is installed, so that the floor is as low as it can be."""

import asyncio
from collections.abc import Coroutine
from typing import Any

try:
    from uvloop import run as _run
except ImportError:
    _run = asyncio.run


def run(main: Coroutine[Any, Any, None]) -> None:
    """Runs it to its end."""
    _run(main)


def name() -> str:
    """Which loop it is."""
    return _run.__module__.partition(".")[0]
