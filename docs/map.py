"""Writes the map in architecture.md from the first line of every module: python3 docs/map.py [--check]."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
FOLDERS = ("taskmonkey", "assistants", "subchats")
START, END = "<!-- map: written by `make map` -->", "<!-- end of the map -->"


def write_map() -> None:
    """Puts the present map into the page, between its two marks."""
    PAGE.write_text(page_with_map())


def page_with_map() -> str:
    """The page as it should be: the text around the marks as it is, the map between them anew."""
    before, _, rest = PAGE.read_text().partition(START)
    after = rest.partition(END)[2]
    return f"{before}{START}\n{draw_map()}\n{END}{after}"


def draw_map() -> str:
    """One table per folder that holds a module with a caption, in the order of their paths."""
    folders = sorted({path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")})
    return "\n".join(filter(None, map(draw_folder, folders)))


def draw_folder(folder: Path) -> str:
    if "migrations" in folder.parts:
        return ""
    captions = {path.name: caption(path) for path in sorted(folder.glob("*.py"))}
    rows = [f"| `{name}` | {text} |" for name, text in captions.items() if text and name != "__init__.py"]
    if not rows:
        return ""
    lead = captions.get("__init__.py", "")
    return "\n".join([f"\n### `{folder.relative_to(ROOT)}/`\n", *([f"{lead}\n"] if lead else []), "| | |", "|---|---|", *rows])


def caption(path: Path) -> str:
    """A module's docstring on one line, safe in a table; empty if it has none."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text() == page_with_map() else "The map is out of date: run `make map`.")
    write_map()
