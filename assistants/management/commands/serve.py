"""Serves the site under a supervisor and prints the one link that signs a newcomer in."""

import os
import socket
import sys
from argparse import SUPPRESS, ArgumentParser
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from assistants.access import make_login_link
from assistants.errors import CodedError
from assistants.management.server import SERVERS, listen, serve
from assistants.models import User


class Command(BaseCommand):
    help = "Starts the server, keeps it running, and prints a link that signs the administrator in once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000; 0: any free one)")
        parser.add_argument("--server", choices=SERVERS, default="daphne", help="which ASGI server to use")
        parser.add_argument("--no-link", action="store_true", help="don't print a link that signs in")
        parser.add_argument("--prepare", action="store_true", help="first migrate, make the demo tenant, collect static files")
        parser.add_argument("--language", choices=["en", "de"], default="en", help="language of the demo tenant")
        parser.add_argument("--unsupervised", action="store_true", help="serve in this process; nothing restarts it")
        parser.add_argument("--listener-fd", type=int, help=SUPPRESS)
        parser.add_argument("--lifeline-fd", type=int, help=SUPPRESS)
        parser.add_argument("--only-welcome", action="store_true", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["listener_fd"] is not None:
            listener = socket.socket(fileno=options["listener_fd"])
            serve(listener, server=options["server"], lifeline=options["lifeline_fd"])
        if options["only_welcome"]:
            if options["prepare"]:
                prepare(options["language"])
            print(welcome(options["host"], options["port"], link=not options["no_link"]))
            return
        try:
            listener = listen(options["host"], options["port"])
        except CodedError as error:
            raise CommandError(f"{error.message} {error.fix}") from error
        # Whoever looks for a model server on this machine must not take this site for one.
        os.environ["PORT"] = str(listener.getsockname()[1])
        if options["prepare"]:
            prepare(options["language"])
        if options["unsupervised"]:
            serve(listener, server=options["server"])
        become_supervisor(
            listener, server=options["server"], notice=welcome(*listener.getsockname()[:2], link=not options["no_link"])
        )


def prepare(language: str) -> None:
    """Brings a new or older data directory up to date; in this process, since starting one more costs seconds."""
    call_command("migrate", verbosity=0)
    call_command("demo", language=language)
    call_command("collectstatic", interactive=False, verbosity=0)


def welcome(host: str, port: int, *, link: bool) -> str:
    """Says where the site is: with a link for the first administrator, unless there is none or none is wanted."""
    address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    lines = [f"TaskMonkey is running: {address}/"]
    if admin is None:
        lines.append("There is no administrator yet: `manage.py demo` or `manage.py createsuperuser` makes one.")
    elif link:
        hours = settings.PASSWORD_RESET_TIMEOUT // 3600
        lines = [f"TaskMonkey is running. This link signs you in (once, within {hours} hours):", ""]
        lines.append(f"    {address}{make_login_link(admin)}")
    return "\n".join(["", *lines, "", "Ctrl-C stops it.", ""])


def become_supervisor(listener: socket.socket, *, server: str, notice: str) -> NoReturn:
    """Replaces this process by the supervisor, which needs a tenth of its memory; the notice goes along in a pipe.

    In a pipe and not among the arguments, since every account of the machine may read those, and the link is a key.
    """
    connections.close_all()
    reader, writer = os.pipe()
    os.write(writer, notice.encode())
    os.close(writer)
    for handle in (listener.fileno(), reader):
        os.set_inheritable(handle, True)
    manage = str(settings.BASE_DIR / "manage.py")
    child = [sys.executable, manage, "serve", "--skip-checks", f"--server={server}"]
    own = [f"--listener-fd={listener.fileno()}", f"--notice-fd={reader}", "--", *child]
    os.chdir(settings.BASE_DIR)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "assistants.management.supervisor", *own])
