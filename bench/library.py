"""Makes a folder of documents out of the documentation that Python and the installed packages bring along."""

import ast
import re
import sysconfig
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

SHORTEST = 1500
LONGEST = 300_000
PACKAGES = ("django", "channels", "markdown_it", "pydantic", "httpx2", "anyio", "nh3", "cryptography", "click", "pygments")
WITH_PAGES = ("pydantic_ai", "playwright", "anthropic", "openai", "mdit_py_plugins")


def make_library(folder: Path) -> int:
    """Writes the documents and says how many there are. They are the installed versions', so they differ by machine."""
    count = 0
    for name, text in (*_language(), *_pages(), *_modules()):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        count += 1
    return count


def _language() -> Iterator[tuple[str, str]]:
    """The chapters of the language's reference, as Python's own help shows them."""
    topics = import_module("pydoc_data.topics").topics
    for name, text in sorted(topics.items()):
        yield f"language/{name}.rst", text.strip() + "\n"


def _pages() -> Iterator[tuple[str, str]]:
    """The Markdown that packages ship."""
    site = Path(sysconfig.get_path("purelib"))
    for package in WITH_PAGES:
        for path in sorted((site / package).rglob("*.md")):
            # A folder whose name begins with a dot would be left out.
            name = str(path.relative_to(site)).replace("/.", "/")
            yield f"pages/{name}", path.read_text(encoding="utf-8", errors="replace")


def _modules() -> Iterator[tuple[str, str]]:
    """What modules say about themselves, from the standard library and from packages; none is imported."""
    standard, site = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    paths = [path for path in standard.rglob("*.py") if not {"site-packages", "test", "tests", "idlelib"} & set(path.parts)]
    places = [(standard, path) for path in paths]
    places += [(site, path) for package in PACKAGES for path in (site / package).rglob("*.py")]
    for above, path in sorted(places):
        name = str(path.relative_to(above).with_suffix(""))
        text = _docstrings(name.replace("/", "."), path)
        if SHORTEST <= len(text) <= LONGEST:
            yield f"modules/{name}.md", text


def _docstrings(name: str, path: Path) -> str:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError):
        return ""
    parts = [f"# {name}", ast.get_docstring(tree) or ""]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (said := ast.get_docstring(node)):
            parts += [f"## {node.name}", said]
    return "\n\n".join(re.sub(r"[\x00-\x08]", "", part) for part in parts if part) + "\n" if len(parts) > 2 else ""
