"""A team with a folder of documents, a research assistant and explorers, all following scripts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistants.documents.indexing import index_root
from assistants.models import Assistant, DocumentRoot, Thread
from subchats.models import ResearchRun
from subchats.research.assignment import Assignment, render_assignment
from subchats.research.explorers import get_explorer
from subchats.research.payload import EXPLORER
from tests.kit import turns
from tests.kit.world import World, scripted_profile

QUERY = "How long does a refund take?"
TEXT = "# Refunds\n\nRefunds are paid within five working days.\nGift cards are paid back as gift cards.\n"
MODEL = "scripted/apes-explorer"


@dataclass
class House:
    """`ask` runs a question to its end; the scripts are set before."""

    ground: World
    root: DocumentRoot
    scout: Assistant
    explorer: Assistant

    def ask(self, orchestrator: list[Any], explorer: list[Any], text: str = QUERY) -> Thread:
        """A conversation with the research assistant, run until nothing is left to do."""
        self.scout.profile = profile(self.ground, "scout", orchestrator)
        self.scout.save()
        self.explorer.profile = profile(self.ground, "explorer", explorer)
        self.explorer.save()
        thread = self.ground.open(text, assistant=self.scout)
        turns.run_all()
        return thread


def build(ground: World, folder: Path) -> House:
    """The apes research in one folder with a file on refunds."""
    (folder / "returns").mkdir()
    (folder / "returns" / "refunds.md").write_text(TEXT)
    root = DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(folder))
    index_root(root)
    scout = ground.assistant("scout", tools=["subagent", "emit_autorag_results"], research=True)
    return House(ground, root, scout, get_explorer(ground.apes))


def profile(ground: World, name: str, script: list[Any]) -> Any:
    from assistants.llm import scripted
    from assistants.models import LLMProfile

    known = LLMProfile.objects.filter(tenant=ground.apes, name=name).first()
    if known is None:
        return scripted_profile(ground.apes, name, script)
    scripted.register(known.model, script)
    return known


def task(query: str = QUERY, method: str = "posix", variants: tuple[str, ...] = ("refund", "paid back")) -> str:
    return render_assignment(Assignment(query, method, variants))


def leaf(**changes: Any) -> dict[str, Any]:
    return {"agent": EXPLORER, "model": MODEL, "cwd": "handbook", "task": task(), **changes}


def sends(**changes: Any) -> dict[str, Any]:
    """A reply that sends one explorer out."""
    return {"calls": [{"name": "subagent", "arguments": {"agentScope": "user", "artifacts": False, **leaf(**changes)}}]}


def candidate(**changes: Any) -> dict[str, Any]:
    return {
        "source": "handbook/returns/refunds.md",
        "method": "posix",
        "evidence": "Refunds are paid within five working days.",
        "locator": "line 3",
        "relevance": "strong",
        "retrievedAt": "2026-11-30T09:00:00+00:00",
        "sourceTemporal": {"status": "unknown"},
        "temporal_basis": "",
        "uncertainty": "no date in the file",
        **changes,
    }


def handoff(*candidates: dict[str, Any], query: str = QUERY) -> str:
    assignment = {"originalQuery": query, "method": "posix", "queryVariants": ["refund"]}
    return json.dumps({"assignment": assignment, "candidates": list(candidates or (candidate(),))})


def emits(*, numbers: tuple[int, ...] = (1,), mapped: tuple[int, ...] | None = None, **changes: Any) -> dict[str, Any]:
    """A reply that ends the research."""
    excerpt = changes.pop("excerpt", "Refunds are paid within five working days.")
    summary, source = changes.pop("summary", "Five working days."), changes.pop("source", "handbook/returns/refunds.md")
    arguments = {
        "answer": "A refund takes five working days at most [1].",
        "results": [
            {
                "number": number,
                "title": "Refund times",
                "summary": summary,
                "evidence": [{"excerpt": excerpt, "lineNumber": 3}],
                "confidence": 0.9,
            }
            for number in numbers
        ],
        "mapping": [
            {"number": number, "source": source, "method": "posix", "content": excerpt}
            for number in (numbers if mapped is None else mapped)
        ],
        **changes,
    }
    return {"calls": [{"name": "emit_autorag_results", "arguments": arguments}]}


def run_of(thread: Thread) -> ResearchRun:
    return ResearchRun.objects.get(turn__thread=thread)
