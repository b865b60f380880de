"""Removes one person with everything of theirs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistants.errors import CodedError
from assistants.retention.removal import Removal, plan_removal, remove_person

from .export_user import find_person


class Command(BaseCommand):
    help = "Removes a person with their conversations and everything else of theirs, after asking; there is no way back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--dry-run", action="store_true", help="only say what would go and what would stay")
        parser.add_argument("--yes", action="store_true", help="don't ask")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_person(options["username"])
        try:
            self._tell(plan_removal(user))
            if options["dry_run"]:
                return
            asked = "Type the name again to remove them for good: "
            if not options["yes"] and input(asked).strip() != user.username:
                raise CommandError("Nothing was removed.")
            remove_person(user, by=None, name="the command line")
        except CodedError as error:
            raise CommandError(error.told) from error
        self.stdout.write(f"{options['username']} was removed.")

    def _tell(self, removal: Removal) -> None:
        self.stdout.write("Goes for good:")
        for label, number in removal.removed.items():
            self.stdout.write(f"  {number:6} {label}")
        self.stdout.write("Stays, without naming them:")
        for label, number in removal.kept.items():
            self.stdout.write(f"  {number:6} {label}")
