"""Runs the site as several processes: web processes behind one port, workers, and the services that nobody named."""

import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from assistants.errors import CodedError
from assistants.management import private_servers
from assistants.management.listener import HOST, PORT, listen
from assistants.management.supervisor import answers
from assistants.management.team import Member, Team

MANAGE = [sys.executable, "manage.py"]
POSTGRES_PORT, REDIS_PORT = 55432, 56379
# Two cores that are busy with other work take a minute and more for four processes at once.
START_SECONDS = 180.0


class Command(BaseCommand):
    help = (
        "Starts web processes and workers, and ends them all on Ctrl-C. PostgreSQL and Redis are those that DATABASE_URL and"
        " REDIS_URL name; without these, private ones on loopback, with their data in the data directory."
    )
    # This process only starts others; its own settings name another database.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=HOST, help="address to listen on (default %(default)s)")
        parser.add_argument("--port", type=int, default=PORT, help="port to listen on (default %(default)s; 0: any free one)")
        parser.add_argument("--web", type=int, default=2, help="web processes (default 2)")
        parser.add_argument("--workers", type=int, default=2, help="worker processes (default 2)")
        parser.add_argument("--language", choices=["en", "de"], default="en", help="language of the demo tenant")
        parser.add_argument("--no-prepare", action="store_true", help="don't migrate, make the demo tenant or collect files")
        parser.add_argument("--no-link", action="store_true", help="don't print a link that signs in")

    def handle(self, *args: Any, **options: Any) -> None:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
        team = Team()
        team.listen_for_signals()
        try:
            listener = listen(options["host"], options["port"]) if options["web"] else None
            self._say("Finding PostgreSQL and Redis ...")
            environment = _environment(team, settings.HOME, listener)
            # Before anything is begun: the processes themselves are started without these checks.
            _run("what does not go together stands above", [*MANAGE, "check", "--tag=taskmonkey"], environment)
            notice = ""
            if not options["no_prepare"]:
                self._say("Bringing the data up to date ...")
                notice = _prepare(environment, listener, options["language"], link=not options["no_link"])
            self._say(f"Starting processes: {options['web']} web, {options['workers']} workers ...")
            _start_processes(team, environment, listener, web=options["web"], workers=options["workers"])
            if listener and not team.stopping:
                self._say(notice or f"The site answers on port {listener.getsockname()[1]}.")
            team.watch()
        except (CodedError, RuntimeError) as error:
            raise CommandError(" ".join(filter(None, [str(error), getattr(error, "fix", "")]))) from error
        finally:
            team.end()

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _environment(team: Team, home: Path, listener: socket.socket | None) -> dict[str, str]:
    """What the processes of the site are told: where PostgreSQL and Redis are, above all."""
    own = {"TASKMONKEY_EXECUTOR": "celery", "TASKMONKEY_HOME": str(home)}
    if listener:
        own["PORT"] = str(listener.getsockname()[1])
    named = [name for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)]
    if len(named) == 1:
        fix = "Name the other one too, or neither; then both are started here."
        raise CodedError("HALF_NAMED", f"Only {named[0]} is set.", field=named[0], fix=fix)
    # Where others share the services, a key that was made here is not theirs: the checks ask for one (E007).
    return os.environ | own | ({} if named else _start_services(team, home))


def _start_services(team: Team, home: Path) -> dict[str, str]:
    """Starts PostgreSQL and Redis; gives the variables by which the site finds them, and leaves them for other commands."""
    home.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, make, wanted in (
        ("DATABASE_URL", private_servers.postgres, POSTGRES_PORT),
        ("REDIS_URL", private_servers.redis, REDIS_PORT),
    ):
        service = make(home / make.__name__, wanted)
        found[name] = service.url
        # SIGINT ends PostgreSQL without waiting for whoever is connected.
        output = home / f"{service.name}.log"
        member = Member(service.name, service.command, dict(os.environ), 20, signal.SIGINT, account=service.account, log=output)
        team.join(member, until=partial(_is_open, service.port))
    return leave_for_others(found, home)


def leave_for_others(found: dict[str, str], home: Path) -> dict[str, str]:
    """Writes what other commands need to reach this site, and gives it; its key too, which the checks ask for."""
    told = found | {
        "TASKMONKEY_EXECUTOR": "celery",
        "TASKMONKEY_HOME": str(home),
        "TASKMONKEY_SECRET_KEY": settings.SECRET_KEY,
    }
    names = home / "team.env"
    names.touch(mode=0o600)
    names.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in told.items()))
    return told


def _prepare(environment: dict[str, str], listener: socket.socket | None, language: str, *, link: bool) -> str:
    """Brings the data up to date, in one process, and gives what is to be told once the site answers."""
    command = [*MANAGE, "serve", "--only-welcome", "--prepare", f"--language={language}", *([] if link else ["--no-link"])]
    if listener:
        host, port = listener.getsockname()[:2]
        command += [f"--host={host}", f"--port={port}"]
    return _run("the data could not be brought up to date; what was said stands above", command, environment)


def _run(complaint: str, command: list[str], environment: dict[str, str]) -> str:
    """What a command says on its standard output. Raises RuntimeError with the complaint if it fails."""
    done = subprocess.run(command, env=environment, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(complaint)
    return done.stdout


def _start_processes(
    team: Team, environment: dict[str, str], listener: socket.socket | None, *, web: int, workers: int
) -> None:
    """Workers first: a page that answers is to find somebody who works. All web processes answer on the one socket.

    What they are told was checked before; one that is started again while PostgreSQL is gone must not be refused for that.
    """
    for number in range(1, workers + 1):
        team.join(
            Member(f"worker{number}", [*MANAGE, "work", "--skip-checks", f"--slot=worker{number}"], environment, grace=20)
        )
    if listener is None:
        return
    own = environment | {"TASKMONKEY_WEB_PROCESSES": str(web)}
    command = [*MANAGE, "serve", "--skip-checks", f"--listener-fd={listener.fileno()}"]
    for number in range(1, web + 1):
        team.join(Member(f"web{number}", command, own, handles=[listener.fileno()]))
    address = listener.getsockname()[:2]
    team.wait(lambda: answers(address), within=START_SECONDS)


def _is_open(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0
