"""Writes out everything that is somebody's: their conversations to read, and every row for programs."""

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.utils.text import slugify

from assistants.conversations.packing import pack_thread, pack_threads
from assistants.conversations.reading_out import read_out
from assistants.errors import CodedError
from assistants.models import Thread, User

from .belongings import belongings_of

# A key to the account is nobody's data.
SECRET = {("assistants.User", "password")}
README = """# Everything of {name}

- `conversations/`: each conversation as Markdown to read, and as JSON that can be brought in again under “New chat”.
- `rows/theirs/`: every row of the record that belongs to the person, one file for each kind.
- `rows/named/`: rows of the team or of others that name the person, such as entries of the audit log.

Times are in UTC. Files in folders of documents are the team's and not in here.
"""


@dataclass(frozen=True)
class Written:
    """What was written, and where."""

    target: Path
    conversations: int
    rows: int


def export_person(user: User, target: Path) -> Written:
    """Writes it into a new folder, or a new zip file where the name ends so, that nobody but its owner can read.

    Raises `TARGET_EXISTS`, `TARGET_FORBIDDEN`; nothing is left half written under the target's name.
    """
    if target.exists():
        raise CodedError(code="TARGET_EXISTS", field="to", message=f"{target} exists already.", fix="Choose another name.")
    try:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".export-") as name:
            folder = Path(name) / "export"
            folder.mkdir(mode=0o700)
            written = _write(user, folder, target)
            if target.suffix == ".zip":
                os.link(_pack(folder, Path(name) / "export.zip"), target)
            else:
                shutil.move(folder, target)
    except OSError as error:
        message = f"{target} can't be written: {error.strerror or error}."
        raise CodedError(code="TARGET_FORBIDDEN", field="to", message=message, fix="Choose another place.") from error
    return written


def _write(user: User, folder: Path, target: Path) -> Written:
    folder.joinpath("README.md").write_text(README.format(name=user.username), encoding="utf-8")
    threads = list(Thread.objects.roots().filter(owner=user).select_related("assistant").order_by("pk"))
    (folder / "conversations").mkdir()
    for thread in threads:
        place = folder / "conversations" / f"{thread.chat_id}-{slugify(thread.title)[:40]}"
        _write_text(place.with_suffix(".md"), read_out(pack_thread(thread)))
        _write_text(place.with_suffix(".json"), _as_json(pack_threads([thread])))
    found = belongings_of(user)
    rows = _write_rows(folder / "rows" / "theirs", found.theirs) + _write_rows(folder / "rows" / "named", found.named)
    return Written(target, len(threads), rows)


def _write_rows(folder: Path, found: Mapping[str, Sequence[Model]]) -> int:
    folder.mkdir(parents=True)
    for label, rows in sorted(found.items()):
        _write_text(folder / f"{label.lower()}.json", _as_json([_row(row) for row in rows]))
    return sum(len(rows) for rows in found.values())


def _row(row: Model) -> dict[str, Any]:
    fields = [field for field in row._meta.concrete_fields if (row._meta.label, field.name) not in SECRET]
    return {field.attname: field.value_from_object(row) for field in fields}


def _as_json(data: object) -> str:
    return json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))


def _pack(folder: Path, target: Path) -> Path:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                pack.write(path, path.relative_to(folder))
    return target
