"""What a search from the command line is run with, and the one file that says so (A-43)."""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from assistants.errors import CodedError

VARIABLE = "TASKMONKEY_CONFIG"
NAME, LEGACY = "config.json", "taskmonkey.config.json"
MOST_BYTES = 64 * 1024
TIMEOUT_MS = 10_000
LONGEST_MS = 600_000
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,50}\Z")


@dataclass(frozen=True)
class Config:
    """Empty texts leave the choice to the site: its only tenant, its only research assistant, the team's first admin.

    `timeout_ms` is for one probe of the health check. `source` is explicit, home, legacy or defaults.
    """

    tenant: str = ""
    assistant: str = ""
    user: str = ""
    timeout_ms: int = TIMEOUT_MS
    source: str = "defaults"


def read_config(path: str | None = None, *, adopt: bool = True) -> Config:
    """The settings from the file at `path`, else the one that TASKMONKEY_CONFIG names, else the data directory's own.

    A legacy file of the working folder is copied into the data directory, unchanged, when none is there; with `adopt`
    off it is only read (A-41). Raises `CONFIG_MISSING`, `CONFIG_UNREADABLE`, `CONFIG_INVALID` with the key at fault, and
    never names a path, so that what it says may stand in a report.
    """
    source, file, what = _place(path)
    if file is None:
        return Config()
    if source == "legacy" and adopt:
        _copy(file, settings.HOME / NAME)
    return _read(file, source=source, what=what)


def source_of(path: str | None = None) -> str:
    """Where the settings would come from, whether or not they can be read."""
    return _place(path)[0]


def check_timeout(value: object, *, field: str = "timeoutMs") -> int:
    """The milliseconds for one probe: a positive whole number, ten minutes at most. Raises `CONFIG_INVALID`."""
    text = str(value).strip() if isinstance(value, str) else value
    number = int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10 else text
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LONGEST_MS:
        raise _invalid(field, f"“{field}” is no whole number of milliseconds from 1 to {LONGEST_MS}.")
    return number


def _place(path: str | None) -> tuple[str, Path | None, str]:
    if chosen := path or os.environ.get(VARIABLE, "").strip():
        return "explicit", Path(chosen), f"The file that {'--config' if path else VARIABLE} names"
    home, legacy = settings.HOME / NAME, Path.cwd() / LEGACY
    if os.path.lexists(home):
        return "home", home, f"The {NAME} in the data directory"
    if legacy.is_file():
        return "legacy", legacy, f"The {LEGACY} of the working folder"
    return "defaults", None, ""


def _copy(legacy: Path, home: Path) -> None:
    """Byte for byte, whole or not at all, and never over a file that somebody else has just put there."""
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=home.parent, prefix=f".{NAME}.")
        with os.fdopen(handle, "wb") as file:
            file.write(legacy.read_bytes())
        with contextlib.suppress(FileExistsError):
            os.link(name, home)
        os.unlink(name)
    except OSError as error:
        raise CodedError(
            code="CONFIG_UNREADABLE",
            message=f"{LEGACY} can't be copied into the data directory ({type(error).__name__}).",
            fix="Make the data directory writable, or copy the file yourself.",
        ) from error


def _read(path: Path, *, source: str, what: str) -> Config:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise CodedError(code="CONFIG_MISSING", message=f"{what} is not there.", fix="Name a file that exists.") from None
    except OSError as error:
        raise CodedError(
            code="CONFIG_UNREADABLE",
            message=f"{what} can't be read ({type(error).__name__}).",
            fix="Name a file that may be read.",
        ) from None
    return _parse(raw, source=source, what=what)


def _parse(raw: bytes, *, source: str, what: str) -> Config:
    if len(raw) > MOST_BYTES:
        raise _invalid("", f"{what} is larger than {MOST_BYTES // 1024} KB.")
    try:
        found = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise _invalid("", f"{what} is no JSON.") from None
    if not isinstance(found, dict):
        raise _invalid("", f"{what} holds no JSON object.")
    return _checked(found, source=source)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that stands twice nobody can say which one is meant."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise _invalid("", "A key stands twice in the settings.")
    return dict(pairs)


def _checked(found: Mapping[str, Any], *, source: str) -> Config:
    for key in found:
        if key not in ("tenant", "assistant", "user", "timeoutMs"):
            raise _invalid(key[:80], f"There is no setting “{key[:80]}”.")
    for key in ("tenant", "assistant"):
        if not isinstance(value := found.get(key, ""), str) or (value and not _SLUG.match(value)):
            raise _invalid(key, f"“{key}” is no short name: letters, digits, - and _.")
    if not isinstance(user := found.get("user", ""), str) or len(user) > 150:
        raise _invalid("user", "“user” is no user name.")
    if isinstance(timeout := found.get("timeoutMs", TIMEOUT_MS), str):
        raise _invalid("timeoutMs", "“timeoutMs” is no number.")
    return Config(
        tenant=found.get("tenant", ""),
        assistant=found.get("assistant", ""),
        user=user,
        timeout_ms=check_timeout(timeout),
        source=source,
    )


def _invalid(field: str, message: str) -> CodedError:
    return CodedError(
        code="CONFIG_INVALID", field=field, message=message, fix="The settings are tenant, assistant, user and timeoutMs."
    )
