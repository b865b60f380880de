"""Explorers read documents like files: bounded, and nowhere but beneath the mirror of their folder (A-12, A-32)."""

import os
import time

import pytest

from assistants.documents import indexing, posix
from assistants.documents.indexing import index_root
from assistants.documents.mirror import Mirror
from assistants.documents.reading import MAX_CHARS
from assistants.documents.shelf import Shelf
from assistants.errors import CodedError
from assistants.models import DocumentRoot

pytestmark = pytest.mark.django_db
ESCAPES = [
    "../secret.txt",
    "handbook/../handbook/returns.md",
    "handbook/sub/../returns.md",
    "handbook/..",
    "..",
    "/etc/passwd",
    "/",
    "~/returns.md",
    "~root",
    "C:/returns.md",
    "C:returns.md",
    "file:///etc/passwd",
    "handbook\\returns.md",
    "handbook/..\\returns.md",
    "handbook/returns.md\0",
    "handbook/\nreturns.md",
    "handbook/" + "x/" * 600,
]


@pytest.fixture
def root(ground, tmp_path) -> DocumentRoot:
    indexing.forget_checks()
    folder = tmp_path / "docs"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "returns.md").write_text("# Returns\n\nCustomers have 30 days.\nSale items have 14 days.\n")
    (folder / "sub" / "price.csv").write_text("SKU,Price\nB12345,129\n")
    (folder / "sub" / "deep" / "note.txt").write_text("The canoe is LATE.\n")
    root = DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(folder))
    index_root(root)
    return root


@pytest.fixture
def mirror(root):
    return Mirror(root.pk).folder


def code_of(call) -> str:
    with pytest.raises(CodedError) as refused:
        call()
    return refused.value.code


def names(listing):
    return [entry.name for entry in listing.entries]


def test_a12_a_document_is_read_by_its_lines(root):
    found = posix.read([root], "handbook/returns.md", start=3, lines=1)

    assert (found.document, found.start, found.end, found.total) == ("handbook/returns.md", 3, 3, 5)
    assert found.text == "Customers have 30 days."


def test_a12_folders_are_listed_and_documents_found_by_name(root):
    assert names(posix.ls([root], "")) == ["handbook"]
    assert names(posix.ls([root], "./handbook/")) == ["handbook/sub", "handbook/returns.md"]
    assert names(posix.find([root], "", "*.CSV")) == ["handbook/sub/price.csv"]
    assert names(posix.find([root], "handbook", "sub/*note*")) == ["handbook/sub/deep/note.txt"]
    assert names(posix.find([root], "handbook/returns.md", "*")) == ["handbook/returns.md"]


def test_a12_lines_are_found_by_what_stands_in_them(root):
    found = posix.grep([root], "", r"(canoe|sale).*(late|days)")

    assert [(each.document, each.line, each.text) for each in found.matches] == [
        ("handbook/returns.md", 4, "Sale items have 14 days."),
        ("handbook/sub/deep/note.txt", 1, "The canoe is LATE."),
    ]
    assert found.documents == 3 and found.complete
    assert posix.grep([root], "", "late", exact_case=True).matches == ()
    assert posix.grep([root], "handbook/sub", "days").documents == 2
    assert [each.line for each in posix.grep([root], "", "(", literal=True).matches] == []


def test_a_broken_expression_is_refused_with_a_way_out(root):
    assert code_of(lambda: posix.grep([root], "", "(")) == "PATTERN_INVALID"


def test_an_expression_that_never_ends_is_given_up(root, mirror, monkeypatch):
    monkeypatch.setattr(posix, "SECONDS", 0.3)
    (mirror / "trap.txt.md").write_text("a" * 5000 + "b")
    started = time.monotonic()

    found = posix.grep([root], "handbook/trap.txt", r"^(\w|\s)*(\w|\s)*(\w|\s)*[;:]$")

    assert not found.complete
    assert time.monotonic() - started < 5


def test_what_is_shown_is_bounded(root, mirror, monkeypatch):
    for number in range(posix.MOST_LISTED + 1):
        (mirror / f"{number:04}.txt.md").write_text("needle\n" * 30)
    (mirror / "long.txt.md").write_text("x" * 100_000)

    listed, found = posix.ls([root], "handbook"), posix.find([root], "", "*.txt")
    matched, line = posix.grep([root], "", "needle"), posix.read([root], "handbook/long.txt", start=1, lines=10)

    assert len(listed.entries) == posix.MOST_LISTED and not listed.complete
    assert len(found.entries) == posix.MOST_FOUND and not found.complete
    assert len(matched.matches) == posix.MOST_MATCHES and not matched.complete
    assert max(sum(1 for each in matched.matches if each.document == one.document) for one in matched.matches) == 20
    assert len(line.text) == MAX_CHARS and line.cut


def test_a_comment_names_a_page_only_where_pages_are(root, mirror):
    (mirror / "plan.md.md").write_text("<!-- rework this -->\nThe quokka sleeps.\n")
    (mirror / "scan.pdf.md").write_text("<!-- page 2 -->\nThe quokka wakes.\n")

    places = {each.document: each.place for each in posix.grep([root], "", "quokka").matches}

    assert places == {"handbook/plan.md": "", "handbook/scan.pdf": "page 2"}
    assert posix.read([root], "handbook/plan.md", start=2, lines=1).place == ""


@pytest.mark.parametrize("name", ESCAPES)
def test_a32_a_way_out_is_refused_even_if_it_came_back(root, name):
    for call in (
        lambda: posix.read([root], name, start=1, lines=1),
        lambda: posix.ls([root], name),
        lambda: posix.find([root], name, "*"),
        lambda: posix.grep([root], name, "x"),
    ):
        assert code_of(call) == "EXPLORER_PATH_CONTAINMENT"


@pytest.mark.parametrize(
    "name", ["handbook/none.md", "handbook/none/none.md", "handbook/%2e%2e/x", "other/returns.md", "handbookx"]
)
def test_a32_a_name_that_nothing_has_is_unknown_and_nothing_else(root, name):
    assert code_of(lambda: posix.read([root], name, start=1, lines=1)) == "DOCUMENT_UNKNOWN"
    assert code_of(lambda: posix.grep([root], name, "x")) == "DOCUMENT_UNKNOWN"


def test_s33_links_devices_and_pipes_in_the_mirror_lead_nowhere(root, mirror, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt.md").write_text("canary\n")
    (mirror / "away").symlink_to(outside)
    (mirror / "file.txt.md").symlink_to(outside / "secret.txt.md")
    (mirror / "zero.txt.md").symlink_to("/dev/zero")
    (mirror / "inside.md.md").symlink_to(mirror / "returns.md.md")
    (mirror / "loop").symlink_to(mirror)
    os.mkfifo(mirror / "pipe.txt.md")
    os.mkfifo(mirror / "pipe")

    files = ("away/secret.txt", "away/none", "file.txt", "zero.txt", "inside.md", "loop/returns.md", "pipe.txt", "pipe/x")
    for name in files:
        assert (
            code_of(lambda name=name: posix.read([root], f"handbook/{name}", start=1, lines=1)) == "EXPLORER_PATH_CONTAINMENT"
        )
    for name in ("away", "loop", "pipe"):
        assert code_of(lambda name=name: posix.ls([root], f"handbook/{name}")) == "EXPLORER_PATH_CONTAINMENT"
        assert code_of(lambda name=name: posix.grep([root], f"handbook/{name}", "x")) == "EXPLORER_PATH_CONTAINMENT"
    assert posix.grep([root], "", "canary").matches == ()
    assert names(posix.ls([root], "handbook")) == ["handbook/sub", "handbook/returns.md"]


def test_a32_a_mirror_that_is_swapped_for_a_link_is_not_followed(root, mirror, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "returns.md.md").write_text("canary\n")

    with Shelf([root]) as shelf:
        mirror.rename(tmp_path / "was-here")
        mirror.symlink_to(outside)
        assert "30 days" in shelf.read("handbook/returns.md")[1]
    with Shelf([root]) as shelf:
        assert code_of(lambda: shelf.read("handbook/returns.md")) == "DOCUMENT_UNKNOWN"
    mirror.unlink()


def test_s06_only_the_given_roots_can_be_named(ground, root, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.md").write_text("canary\n")
    theirs = DocumentRoot.objects.create(tenant=ground.bears, name="hidden", path=str(other))
    index_root(theirs)

    assert code_of(lambda: posix.read([root], "hidden/secret.md", start=1, lines=1)) == "DOCUMENT_UNKNOWN"
    assert posix.grep([root], "", "canary").matches == ()
    assert names(posix.ls([], "")) == []


def test_a_root_whose_name_begins_like_another_is_told_apart(ground, root, tmp_path):
    other = tmp_path / "docs-secret"
    other.mkdir()
    (other / "x.md").write_text("canary\n")
    longer = DocumentRoot.objects.create(tenant=ground.apes, name="handbook/more", path=str(other))
    index_root(longer)

    assert posix.read([root, longer], "handbook/more/x.md", start=1, lines=1).text == "canary"
    assert code_of(lambda: posix.read([root], "handbook/more/x.md", start=1, lines=1)) == "DOCUMENT_UNKNOWN"
