"""The house style, as far as a machine can see it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_says_in_one_line_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text())

    caption = ast.get_docstring(tree, clean=False)

    if tree.body:  # an empty __init__.py has nothing to say
        assert caption, "it has no docstring"
        assert "\n" not in caption.strip()
        assert caption.strip().endswith((".", "]")) or ":" in caption


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_file_holds_one_noun_and_so_stays_short(path: Path) -> None:
    limit = TEST_LINES if path.relative_to(ROOT).parts[0] == "tests" else FILE_LINES

    lines = path.read_text().count("\n")

    assert lines < limit


@pytest.mark.parametrize("path", product(), ids=name)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    long = {f.name: (f.end_lineno or 0) - f.lineno + 1 for f in functions(path)}

    assert {each: lines for each, lines in long.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", product(), ids=name)
def test_no_name_promises_everything(path: Path) -> None:
    parts = {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}

    assert parts & VAGUE == set()


@pytest.mark.parametrize("path", [path for path in modules() if path.name.startswith("test_")], ids=name)
def test_a_test_file_holds_tests_that_read_as_sentences(path: Path) -> None:
    tests = [f.name for f in functions(path) if f.name.startswith("test_")]

    assert tests
    assert [test for test in tests if test.count("_") < 3] == []
