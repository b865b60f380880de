"""Copies the whole site into one file while it runs: the database and what belongs to it."""

import os
import sqlite3
import tempfile
import zipfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

# In the data directory, beside the database. Everything else there is made again, or is a mail that was sent.
KEPT = ("secret.key", "config.json")
LEFT_OUT = (
    "Left out: the folders of documents themselves, the indexes over them (`manage.py index` makes them again),"
    " mails in outbox/, logs, and settings in the environment."
)


class Command(BaseCommand):
    help = "Writes a consistent copy of a site on SQLite into a new zip file, also while the server runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the zip file to write; it must not exist yet")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("This site is on PostgreSQL: use pg_dump, as docs/operations.md says.")
        if file.exists():
            raise CommandError(f"{file} exists already. Choose another name, or move it away.")
        kept = [settings.HOME / name for name in KEPT if (settings.HOME / name).exists()]
        try:
            with tempfile.TemporaryDirectory(dir=file.resolve().parent, prefix=".backup-") as folder:
                copy = Path(folder) / "taskmonkey.sqlite3"
                copy_database(Path(connection.settings_dict["NAME"]), copy)
                whole = Path(folder) / "whole.zip"
                _pack(whole, [copy, *kept])
                # Under its name only once it is whole.
                os.link(whole, file)
        except OSError as error:
            raise CommandError(f"The backup could not be written: {error.strerror or error}.") from error
        self.stdout.write(f"Wrote {file}: the database{''.join(f', {path.name}' for path in kept)}.")
        if "secret.key" not in [path.name for path in kept]:
            self.stdout.write(
                "The secret key is in TASKMONKEY_SECRET_KEY: keep it as well, or stored model keys can't be read."
            )
        self.stdout.write(LEFT_OUT)


def copy_database(source: Path, target: Path) -> None:
    """Copies a SQLite database that others may be writing to, and looks whether the copy is whole.

    Raises CommandError if it is not.
    """
    reader, writer = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True), sqlite3.connect(target)
    try:
        # In one read transaction: pages that are written meanwhile would otherwise have it begin again and again.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        reader.backup(writer, pages=-1)
        found = writer.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        reader.close()
        writer.close()
    if found != "ok":
        raise CommandError("The copy is damaged, and so may be the database. Run `PRAGMA integrity_check` on it.")


def _pack(target: Path, files: list[Path]) -> None:
    """The key is in it, so nobody else may read it."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as pack:
        for path in files:
            pack.write(path, path.name)
