"""The house style, as far as a machine can see it."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("taskmonkey", "assistants", "subchats", "bench", "docs", "tests")
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "misc", "services", "managers"}
FILE_LINES, TEST_LINES, FUNCTION_LINES = 300, 600, 60


def modules() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]
    return sorted([*ROOT.glob("*.py"), *found])


def product() -> list[Path]:
    return [path for path in modules() if path.relative_to(ROOT).parts[0] != "tests"]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def read(path: Path) -> tuple[str | None, list[tuple[str, int]]]:
    """A module's caption, and its functions with the lines that each takes."""
    tree = ast.parse(path.read_text())
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return ast.get_docstring(tree), [(each.name, (each.end_lineno or 0) - each.lineno + 1) for each in found]


def test_a_module_says_in_one_line_what_it_is() -> None:
    captions = {name(path): read(path)[0] for path in modules() if path.stat().st_size}

    assert [module for module, caption in captions.items() if not caption or "\n" in caption] == []


def test_a_file_holds_one_noun_and_so_stays_short() -> None:
    lines = {path: path.read_text().count("\n") for path in modules()}

    limit = dict.fromkeys(modules(), FILE_LINES) | dict.fromkeys(set(modules()) - set(product()), TEST_LINES)
    assert {name(path): count for path, count in lines.items() if count >= limit[path]} == {}


def test_a_function_fits_on_a_screen() -> None:
    lengths = {(name(path), function): lines for path in product() for function, lines in read(path)[1]}

    assert {function: lines for function, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def test_no_name_promises_everything() -> None:
    # Django looks for a database's backend by this name.
    backends = {ROOT / "taskmonkey" / database / "base.py" for database in ("sqlite", "postgres")}
    product_files = [path for path in product() if path not in backends]
    parts = {path: {part.removesuffix(".py") for part in path.relative_to(ROOT).parts} for path in product_files}

    assert [name(path) for path, words in parts.items() if words & VAGUE] == []


def test_a_test_reads_as_a_sentence() -> None:
    files = [path for path in set(modules()) - set(product()) if path.name.startswith("test_")]

    tests = [(name(path), function) for path in files for function, _ in read(path)[1] if function.startswith("test_")]

    assert {name(path) for path in files} == {file for file, _ in tests}
    assert [test for test in tests if test[1].count("_") < 3] == []
