"""Whatever is recorded for the pages can be drawn, and whatever can be drawn is."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def nodes() -> Iterator[ast.AST]:
    for folder in ("assistants", "subchats"):
        for path in (ROOT / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text()))


def recorded_kinds() -> set[str]:
    """The kinds in `record(thread, kind)` and `events.record(thread, kind)`."""
    kinds = set()
    for node in nodes():
        if isinstance(node, ast.Call) and len(node.args) == 2 and ast.unparse(node.func) in {"record", "events.record"}:
            assert isinstance(node.args[1], ast.Constant), f"say the kind where it is recorded: {ast.unparse(node)}"
            kinds.add(node.args[1].value)
    return kinds


def drawn_kinds() -> set[str]:
    """The kinds that `draw_event` tells apart."""
    fragments = ast.parse((ROOT / "assistants/rendering/fragments.py").read_text())
    (draw,) = (node for node in ast.walk(fragments) if isinstance(node, ast.FunctionDef) and node.name == "draw_event")
    values = (node.value for node in ast.walk(draw) if isinstance(node, ast.MatchValue))
    return {value.value for value in values if isinstance(value, ast.Constant)}


def test_every_recorded_kind_of_event_can_be_drawn() -> None:
    recorded = recorded_kinds()

    assert recorded
    assert recorded - drawn_kinds() == set()


def test_every_event_template_is_drawn_by_somebody() -> None:
    names = {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    included = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))

    templates = [str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates/events").rglob("*.html")]

    assert [each for each in templates if each not in names and f'"{each}"' not in included] == []
