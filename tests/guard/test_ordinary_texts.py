"""What people write every day is not held up (decision 11): business, German, Markdown, code, and our own words."""

import ast
import json
import re
from pathlib import Path

import pytest

from assistants.tools.guard.calls import check_call
from assistants.tools.guard.results import screen_result
from assistants.tools.registry import find_tool
from tests.guard.ordinary import ROWS

ROOT = Path(__file__).resolve().parents[2]
ENVELOPE = "Facts from the assistant that gave you this task"
REPORT = {"success": True, "sub_chat_id": "sub_c_12ab34cd", "tools_used": ["read_document"], "iterations": 2, "error": None}


def test_the_table_is_large_enough():
    assert len(set(ROWS)) == len(ROWS) >= 70


@pytest.mark.parametrize("text", ROWS)
def test_an_ordinary_text_passes_as_a_document(text):
    passage = {"document": "handbook/a.md", "place": "lines 1-9", "title": text[:80], "passage": text, "score": 1.5}
    result = json.dumps({"query": text[:60], "total": 1, "results": [passage]}, ensure_ascii=False)

    assert screen_result("search_documents", result).finding is None
    assert screen_result("fetch_url", text).finding is None


@pytest.mark.parametrize("text", ROWS)
def test_an_ordinary_text_passes_as_a_report_of_a_sub_chat(text):
    result = json.dumps({**REPORT, "reply": f"Here is what I found:\n\n{text}\n\nThat is all."}, ensure_ascii=False)

    assert screen_result("invoke_assistant", result).finding is None


@pytest.mark.parametrize("text", ROWS)
def test_an_ordinary_text_passes_in_whatever_is_handed_to_another_assistant(text):
    check_call(find_tool("invoke_assistant"), {"assistant": "stock", "task": text, "context": f"Known so far:\n{text}"})
    check_call(find_tool("spawn_agent"), {"task": text, "prompt": f"You are careful.\n{text}", "tools": ["current_time"]})
    check_call(find_tool("hand_back"), {"whatIsNeeded": text, "whatIEstablished": text, "owningAgent": "stock"})
    check_call(find_tool("ask_clarifying_question"), {"question": text, "options": [text, "None of these"]})
    check_call(find_tool("search_documents"), {"query": text, "limit": 8})


def test_the_prose_of_everyday_delegation_passes_word_for_word():
    """Section 5, consequence 4: each of these trips a guard that does not know prose from commands."""
    for text in ("execute the plan; select the better one", "use `jq` on it", "a\n---\nb #\nc", "localhost:8000", "| id |"):
        check_call(find_tool("invoke_assistant"), {"assistant": "stock", "task": text})


def own_words():
    """Every text in the product's code, the built-in engine's and the demo's included, and every document of the demo."""
    for path in [*ROOT.glob("assistants/**/*.py"), *ROOT.glob("subchats/**/*.py")]:
        if "guard" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{path.name}:{node.lineno}", node.value
    for path in ROOT.glob("assistants/demo/**/*"):
        if path.suffix in {".md", ".txt", ".html", ".csv"}:
            yield path.name, path.read_text()
        if path.suffix == ".json":
            yield from ((path.name, text) for text in texts_in(json.loads(path.read_text())))


def texts_in(value):
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(item)


def test_our_own_words_pass_as_results():
    found = [(place, screen_result("fetch_url", text).finding) for place, text in own_words() if ENVELOPE not in text]

    assert len(found) > 2000
    assert [(place, finding) for place, finding in found if finding] == []


def test_the_documentation_passes_paragraph_by_paragraph():
    pages = [path.read_text() for path in ROOT.glob("docs/**/*.md")]

    blocked = [part for page in pages for part in re.split(r"\n\s*\n", page) if screen_result("fetch_url", part).finding]

    assert blocked == []
