"""Calls one tool from the command line, with the tenant's rights, and prints its result (T-16)."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistants import clock
from assistants.errors import CodedError
from assistants.models import Membership, Role, Tenant, Thread, ToolCall, Turn
from assistants.models.definition import Definition
from assistants.tools.approval import APPROVED, seal
from assistants.tools.arguments import parse_arguments
from assistants.tools.context import ToolContext
from assistants.tools.invoke import invoke
from assistants.tools.outcomes import Done, Pending, Refused
from assistants.tools.registry import all_tools, find_tool
from assistants.turns import executors
from assistants.turns.claims import locked
from assistants.turns.lifecycle import finish_turn


class Command(BaseCommand):
    help = "Calls a tool as the tenant's first admin and prints the JSON that a model would get."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, help="the tenant's slug")
        parser.add_argument("--tool", required=True, help="the tool's exact name")
        parser.add_argument(
            "--args", dest="arguments", default="{}", help='its arguments as a JSON object, e.g. \'{"task": "…"}\''
        )
        parser.add_argument("--timeout", type=float, default=600, help="seconds to wait for a sub-chat")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            arguments = parse_arguments(options["arguments"])
        except CodedError as error:
            raise CommandError(f"--args: {error.told}") from error
        if find_tool(options["tool"]) is None:
            raise CommandError(f"There is no tool {options['tool']}. Tools: {', '.join(t.name for t in all_tools())}")
        call = self.open_call(self.get_tenant(options["tenant"]), options["tool"], arguments)
        try:
            self.stdout.write(self.run(call, options["timeout"]))
        finally:
            with locked(call.turn_id) as turn:
                if turn.is_active:
                    finish_turn(turn, state=Turn.State.DONE, reason="command")

    def get_tenant(self, slug: str) -> Tenant:
        tenant = Tenant.objects.filter(slug=slug).first()
        if tenant is None:
            known = ", ".join(Tenant.objects.values_list("slug", flat=True)) or "none yet; `manage.py demo` makes one"
            raise CommandError(f"There is no tenant {slug}. Tenants: {known}")
        return tenant

    def open_call(self, tenant: Tenant, tool: str, arguments: dict[str, Any]) -> ToolCall:
        """A conversation of its own for the call. Its turn is paused, so that no model is asked about the result."""
        admin = Membership.objects.filter(tenant=tenant, role=Role.ADMIN, user__is_active=True).order_by("pk").first()
        if admin is None:
            raise CommandError(f"{tenant} has no admin in whose name the tool could be called.")
        agent = {"name": "Command line", "prompt": "", "tools": [each.name for each in all_tools()]}
        thread = Thread.objects.create(
            tenant=tenant, owner=admin.user, agent=agent, title=f"test_tool {tool}", title_by="text", archived=True
        )
        turn = Turn.objects.create(thread=thread, state=Turn.State.PAUSED, reason="command")
        effect = getattr(find_tool(tool), "effect", "pure")
        # Whoever types the arguments here has seen them.
        allowed = {"state": APPROVED, "why": [], "hash": seal(tool, arguments), "by": "the command line"}
        return ToolCall.objects.create(
            turn=turn, round=0, index=0, name=tool, arguments=arguments, effect=effect, approval=allowed
        )

    def run(self, call: ToolCall, timeout: float) -> str:
        """The tool's result as text; of a delegation, once the sub-chat has reported."""
        turn = call.turn
        agent = turn.thread.agent
        definition = Definition(name=agent["name"], instructions="", tools=tuple(agent["tools"]))
        context = ToolContext(call=call, turn=turn, thread=turn.thread, definition=definition)
        match invoke(context, starting=lambda tool: None):
            case Refused(error):
                raise CommandError(error.as_line())
            case Done(value):
                return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            case Pending():
                return self.wait(call, timeout)
        raise AssertionError("every outcome is handled above")

    def wait(self, call: ToolCall, timeout: float) -> str:
        """Runs the sub-chats in this process, unless a server that is up was faster: the lease decides."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            call.refresh_from_db()
            if not call.is_open:
                return call.result
            for turn in self.turns_below(call.turn.thread):
                executors.run_here(turn.pk)
            time.sleep(0.05)
        raise CommandError(f"The sub-chat gave no result within {timeout:g} seconds; it goes on without this command.")

    def turns_below(self, thread: Thread) -> list[Turn]:
        return list(Turn.objects.runnable(clock.now()).filter(thread__root=thread))
