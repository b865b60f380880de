"""Writes out everything of one person."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistants.access import audit
from assistants.errors import CodedError
from assistants.models import User
from assistants.retention.exporting import export_person


class Command(BaseCommand):
    help = "Writes everything of a person into a new folder or zip file: conversations to read, and every row as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--to", type=Path, required=True, help="a new folder, or a new file that ends in .zip")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_person(options["username"])
        try:
            written = export_person(user, options["to"])
        except CodedError as error:
            raise CommandError(error.told) from error
        audit("person_exported", tenant_id=None, user=None, target=f"user {user.pk}", rows=written.rows)
        self.stdout.write(f"Wrote {written.conversations} conversations and {written.rows} rows to {written.target}.")


def find_person(username: str) -> User:
    """The person of this sign-in name. Raises CommandError."""
    found = User.objects.filter(username=username).first()
    if found is None:
        raise CommandError(f"Nobody is called {username}.")
    return found
