"""Runs a whole research from the shell and prints the answer with its evidence (A-42)."""

import json
import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from assistants import access
from assistants.errors import CodedError
from subchats.models import CuratedResult
from subchats.research import feedback
from subchats.research.asking import SearchFailed, ask
from subchats.research.config import Config, read_config
from subchats.research.response import EMPTY, as_lines, as_response, printable
from subchats.research.setting_out import get_asker, get_researcher

USAGE, RUNTIME = 2, 1
WORDS = {"useful": 1, "not-useful": -1}
HINT = "Run `manage.py health` to see what is wrong with the models, their keys or the explorer."


def _seconds(text: str) -> float:
    """A time to wait, as the shell gives it."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ArgumentTypeError(f"{text} is no time to wait: give seconds, such as 600")
    return seconds


class Command(BaseCommand):
    help = "Asks a research assistant and waits for its results. Exit code 0, 2 for a wrong call or setting, 1 for a failure."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", nargs="?", help="the question")
        parser.add_argument("--config", help="a file with the settings (default: TASKMONKEY_CONFIG, then the data directory)")
        parser.add_argument("--tenant", help="the team's slug (default: the settings', else the only one)")
        parser.add_argument("--assistant", help="the research assistant's slug (default: the settings', else the only one)")
        parser.add_argument("--user", help="in whose name and with whose rights (default: the settings', else the first admin)")
        parser.add_argument("--timeout", type=_seconds, default=600, help="seconds to wait for the results (default 600)")
        parser.add_argument("--json", action="store_true", help="print the results as JSON")
        parser.add_argument(
            "--feedback",
            nargs=2,
            metavar=("ID", "WORD"),
            help="instead of asking: say of a result (session:number, or session:1,3 for several) useful or not-useful",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["feedback"]:
            return self.give_feedback(*options["feedback"], options)
        if options["query"] is None:
            raise CommandError("Say what to look for: manage.py search “…”.", returncode=USAGE)
        query = options["query"].strip()
        if not query:
            self.stdout.write(json.dumps(EMPTY) if options["json"] else "There was nothing to look for (empty-query).")
            return None
        return self.search(query, options)

    def search(self, query: str, options: dict[str, Any]) -> None:
        try:
            config = self.settings(options)
            assistant = get_researcher(config)
            asker = get_asker(config, assistant)
        except CodedError as error:
            raise self.wrong(error) from error
        try:
            run = ask(query, assistant=assistant, asker=asker, seconds=options["timeout"])
        except SearchFailed as error:
            told = error.told
            raise CommandError(f"{told}\n{HINT}" if error.hint else told, returncode=RUNTIME) from error
        except (CodedError, DatabaseError) as error:
            raise CommandError(f"The search failed. {error}", returncode=RUNTIME) from error
        lines = [json.dumps(as_response(run), ensure_ascii=False)] if options["json"] else as_lines(run)
        self.stdout.write("\n".join(lines))

    def settings(self, options: dict[str, Any]) -> Config:
        """The settings, with what stands on the command line in their place."""
        config = read_config(options["config"])
        return Config(
            tenant=options["tenant"] or config.tenant,
            assistant=options["assistant"] or config.assistant,
            user=options["user"] or config.user,
            timeout_ms=config.timeout_ms,
            source=config.source,
        )

    def give_feedback(self, name: str, word: str, options: dict[str, Any]) -> None:
        """Notes a word on results that the settings' person could say it of in the browser too; else changes nothing (A-39)."""
        if word not in WORDS:
            raise CommandError(f"“{printable(word)}” is neither useful nor not-useful.", returncode=USAGE)
        try:
            config = self.settings(options)
            asker = get_asker(config, get_researcher(config))
        except CodedError as error:
            raise self.wrong(error) from error
        named = results_named(name)
        if not named or not all(access.may(asker, "write", each.run.turn.thread) for each in named):
            raise CommandError("There is no such result.", returncode=USAGE)
        changed = sum(feedback.give(each, WORDS[word]) for each in named)
        self.stdout.write(f"Noted for {len(named)} results, {changed} of them new.")

    def wrong(self, error: CodedError) -> CommandError:
        return CommandError(error.told, returncode=USAGE)


def results_named(name: str) -> list[CuratedResult]:
    """The results of `<session>:<number>` or `<session>:<number>,<number>`; nothing unless all of them are there."""
    if not (parts := re.fullmatch(r"([0-9a-f]{1,32}):(\d{1,4}(?:,\d{1,4}){0,49})", name)):
        return []
    numbers = {int(each) for each in parts[2].split(",")}
    found = CuratedResult.objects.select_related("run__turn__thread__root", "run__turn__thread__owner")
    results = list(found.filter(run__session=parts[1], number__in=numbers))
    return results if len(results) == len(numbers) else []
