"""The server process of the site, which can also bring the data up to date and make the link that signs a newcomer in."""

import os
import socket
import threading
from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from assistants.errors import CodedError
from assistants.login_links import make_login_link
from assistants.management.listener import HOST, PORT, listen
from assistants.management.server import SERVERS, serve
from assistants.management.supervisor import die_with
from assistants.models import User


class Command(BaseCommand):
    help = "Starts the server, keeps it running, and prints a link that signs the administrator in once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=HOST, help="address to listen on (default %(default)s)")
        parser.add_argument("--port", type=int, default=PORT, help="port to listen on (default %(default)s; 0: any free one)")
        parser.add_argument("--server", choices=SERVERS, default="daphne", help="which ASGI server to use")
        parser.add_argument("--no-link", action="store_true", help="don't print a link that signs in")
        parser.add_argument("--prepare", action="store_true", help="first migrate, make the demo tenant, collect static files")
        parser.add_argument("--language", choices=["en", "de"], default="en", help="language of the demo tenant")
        parser.add_argument("--unsupervised", action="store_true", help="serve in this process; nothing restarts it")
        # What the supervisor hands over: the open port, and the pipes for its own end and for what it is to print.
        for name in ("--listener-fd", "--lifeline-fd", "--notice-fd"):
            parser.add_argument(name, type=int, help=SUPPRESS)
        parser.add_argument("--only-welcome", action="store_true", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["lifeline_fd"] is not None:
            threading.Thread(target=die_with, args=(options["lifeline_fd"],), name="lifeline", daemon=True).start()
        if options["only_welcome"]:
            if options["prepare"]:
                prepare(options["language"])
            print(welcome(options["host"], options["port"], link=not options["no_link"]))
            return
        listener = _listener(options)
        if options["prepare"]:
            prepare(options["language"])
        if options["notice_fd"] is not None:
            with open(options["notice_fd"], "w") as notice:
                notice.write(welcome(*listener.getsockname()[:2], link=not options["no_link"]))
        connections.close_all()
        serve(listener, server=options["server"])


def _listener(options: dict[str, Any]) -> socket.socket:
    """The supervisor's port, or one of our own."""
    if options["listener_fd"] is not None:
        return socket.socket(fileno=options["listener_fd"])
    try:
        listener = listen(options["host"], options["port"])
    except CodedError as error:
        raise CommandError(error.told) from error
    # Whoever looks for a model server on this machine must not take this site for one.
    os.environ["PORT"] = str(listener.getsockname()[1])
    return listener


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
