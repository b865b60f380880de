"""A conversation that a person follows on an open page while it is played, compared with a reload at every rest."""

import re
from typing import Any

from assistants.llm import scripted
from assistants.models import Assistant, Domain, Thread, ToolCall
from assistants.turns import executors, lifecycle
from assistants.turns.loop import run_turn
from tests.kit.browsers import PAGE, signed_in
from tests.kit.page import Element, Page
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.kit.world import World

PLANNING = ["write_plan", "confirm_step", "invoke_assistant", "spawn_agent", "spawn_agents", "ask_clarifying_question"]


class Story:
    """Alice talks with the lead. Her page was opened before anything happened and only takes what the server sends."""

    def __init__(self, ground: World, text: str = "Why did returns go up?") -> None:
        self.ground = ground
        self.thread: Thread = ground.open(text)
        self.alice = signed_in(ground.alice, **PAGE)
        commit_hooks()
        self.page = Page(self.alice, self.thread)

    def rest(self) -> Page:
        """Runs everything to its rest; the open page must then show what a new one shows."""
        run_all()
        return self.compare()

    def one_runner(self) -> None:
        """Lets the turn that was rung for first run until it waits, and nobody else."""
        commit_hooks()
        run_turn(executors.rung.pop(0))
        commit_hooks()

    def compare(self, thread: Thread | None = None) -> Page:
        """A page opened now, after a look that the one which stood open all along shows the same."""
        self.page.poll()
        fresh = Page(self.alice, self.thread)
        assert self.page.parts() == fresh.parts()
        assert still(self.page.at("panel")) == still(fresh.at("panel"))
        return Page(self.alice, thread) if thread else fresh

    def say(self, text: str) -> Page:
        lifecycle.send_message(self.thread, author=self.ground.alice, text=text)
        return self.rest()

    def calls(self) -> list[ToolCall]:
        """The calls of the last turn, in order."""
        return list(last_turn(self.thread).calls.order_by("round", "index"))

    def codes(self) -> list[str]:
        """The refusal of each call of the last turn, empty for one that was carried out."""
        return [call.code for call in self.calls()]

    def children(self) -> list[Thread]:
        return list(Thread.objects.filter(parent=self.thread).order_by("pk"))

    def told(self, assistant: Assistant | None = None) -> str:
        """All that the assistant's model was sent with its last request."""
        model = (assistant or self.ground.lead).profile.model
        parts = [part for message in scripted.requests(model)[-1].messages for part in message.parts]
        return "\n".join(str(part.content) for part in parts if hasattr(part, "content"))


def still(panel: Element) -> str:
    """The panel without the lengths of its bars, which grow with the time as long as somebody works or is asked."""
    return re.sub(r"<rect[^>]*>", "", panel.outline())


def words(element: Element) -> str:
    return " ".join(element.text().split())


def card(page: Page, call: ToolCall) -> str:
    """What the card of a call says."""
    return words(page.at(f"c{call.pk.hex}"))


def section(page: Page, kind: str) -> str:
    """What a section of the panel says, by its class; empty without one."""
    found = page.at("panel").find(_class=kind)
    return words(found) if found else ""


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def reply(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"calls": list(calls)}


def step(description: str, check: str, **more: str) -> dict[str, str]:
    return {"description": description, "check": check, **more}


def invoke(assistant: str, task: str = "Look into your part") -> dict[str, Any]:
    return call("invoke_assistant", assistant=assistant, task=task)


def fan_out(*assistants: str) -> dict[str, Any]:
    return call(
        "spawn_agents", tasks=[{"assistant": each, "task": f"Look, {each}", "label": each.title()} for each in assistants]
    )


def lead_with(ground: World, *tools: str) -> None:
    ground.lead.tools = list(tools)
    ground.lead.save()


def domain(ground: World, slug: str) -> Domain:
    return Domain.objects.get_or_create(tenant=ground.apes, slug=slug, defaults={"name": slug.title()})[0]
