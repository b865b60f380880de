"""Serves the site under a supervisor and prints the one link that signs a newcomer in."""

import os
import socket
import sys
from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from assistants.access import make_login_link
from assistants.errors import CodedError
from assistants.management.server import SERVERS, listen, serve
from assistants.management.supervisor import Supervisor
from assistants.models import User


class Command(BaseCommand):
    help = "Starts the server, keeps it running, and prints a link that signs the administrator in once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000; 0: any free one)")
        parser.add_argument("--server", choices=SERVERS, default="daphne", help="which ASGI server to use")
        parser.add_argument("--no-link", action="store_true", help="don't print a link that signs in")
        parser.add_argument("--unsupervised", action="store_true", help="serve in this process; nothing restarts it")
        parser.add_argument("--listener-fd", type=int, help=SUPPRESS)
        parser.add_argument("--lifeline-fd", type=int, help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["listener_fd"] is not None:
            listener = socket.socket(fileno=options["listener_fd"])
            serve(listener, server=options["server"], lifeline=options["lifeline_fd"])
        try:
            listener = listen(options["host"], options["port"])
        except CodedError as error:
            raise CommandError(f"{error.message} {error.fix}") from error
        # Whoever looks for a model server on this machine must not take this site for one.
        os.environ["PORT"] = str(listener.getsockname()[1])
        if options["unsupervised"]:
            serve(listener, server=options["server"])
        manage = str(settings.BASE_DIR / "manage.py")
        command = [sys.executable, manage, "serve", "--skip-checks", f"--server={options['server']}"]
        supervisor = Supervisor(command, listener=listener, on_answer=lambda: self.welcome(listener, options))
        sys.exit(supervisor.run())

    def welcome(self, listener: socket.socket, options: dict[str, Any]) -> None:
        """Prints where the site is: with a link for the first administrator, unless there is none or none is wanted."""
        host, port = listener.getsockname()
        address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
        admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
        if options["no_link"] or admin is None:
            lines = [f"TaskMonkey is running: {address}/"]
            if admin is None:
                lines.append("There is no administrator yet: `manage.py demo` or `manage.py createsuperuser` makes one.")
        else:
            hours = settings.PASSWORD_RESET_TIMEOUT // 3600
            lines = [
                f"TaskMonkey is running. This link signs you in (once, within {hours} hours):",
                "",
                f"    {address}{make_login_link(admin)}",
            ]
        self.stdout.write("\n".join(["", *lines, "", "Ctrl-C stops it.", ""]))
        self.stdout.flush()
        connections.close_all()
