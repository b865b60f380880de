"""A root's documents follow its folder."""

import os
import threading
import time
from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from assistants import clock
from assistants.documents import indexing, intake
from assistants.documents.folder import File
from assistants.documents.indexing import index_root
from assistants.documents.mirror import Mirror
from assistants.documents.search_index import keep_in_step
from assistants.documents.searching import search_passages
from assistants.errors import CodedError
from assistants.models import Document, DocumentRoot, Passage


def counts(report):
    return report.added, report.changed, report.removed, report.unchanged


def rows():
    with connection.cursor() as cursor:
        number = "rowid" if connection.vendor == "sqlite" else "passage_id"
        cursor.execute(f"SELECT {number} FROM assistants_passagetext ORDER BY 1")
        return [row for (row,) in cursor.fetchall()]


def found(root, query):
    indexing.forget_checks()
    return [hit.document for hit in search_passages([root], query, limit=20).hits]


@pytest.fixture
def files(folder):
    (folder / "returns.md").write_text("# Returns\n\nCustomers have 30 days.\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "price.csv").write_text("SKU,Price\nB12345,129\n")
    return folder


def test_a_first_pass_takes_in_every_readable_file(root, files):
    (files / "scan.png").write_bytes(b"PNG")
    (files / "noise.md").write_bytes(b"\0\1\2")

    report = index_root(root)

    assert counts(report) == (2, 0, 0, 0)
    root.refresh_from_db()
    assert root.indexed and root.report["documents"] == 2
    assert root.report["skipped"] == [{"path": "scan.png", "reason": "not a kind of file that is read"}]
    assert [(each["path"], each["reason"]) for each in root.report["failed"]] == [("noise.md", "not text")]
    document = Document.objects.get(path="sub/price.csv")
    assert document.text.endswith("- SKU: B12345; Price: 129")
    assert [passage.first_line for passage in document.passages.all()] == [1]


def test_unchanged_files_are_left_alone(root, files):
    index_root(root)
    before = set(Passage.objects.values_list("pk", flat=True))
    os.utime(files / "returns.md", (1, 1))

    report = index_root(root)

    assert counts(report) == (0, 0, 0, 2)
    assert set(Passage.objects.values_list("pk", flat=True)) == before


def test_what_was_changed_is_read_anew_and_what_is_gone_is_dropped(root, files):
    index_root(root)
    (files / "returns.md").write_text("# Returns\n\nCustomers have fourteen days.\n")
    (files / "sub" / "price.csv").unlink()
    (files / "new.md").write_text("Zippers come from Aalborg.\n")

    report = index_root(root)

    assert counts(report) == (1, 1, 1, 0)
    assert found(root, "fourteen") == ["handbook/returns.md"]
    assert found(root, "B12345") == found(root, "30") == []
    assert rows() == list(Passage.objects.order_by("pk").values_list("pk", flat=True))


def test_a_file_larger_than_ten_megabytes_is_named_as_failed(root, folder):
    (folder / "big.log").write_bytes(b"line\n" * (2 * 1024 * 1024 + 1))

    report = index_root(root)

    assert [(each.path, each.reason) for each in report.failed] == [("big.log", "larger than 10 MB")]


def test_a_search_needs_no_step_before_it(root, files, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    assert search_passages([root], "customers", limit=5).total == 1
    root.refresh_from_db()
    (files / "late.md").write_text("Customers may wait.\n")

    now = 1029.0
    assert search_passages([root], "customers", limit=5).total == 1
    now = 1031.0
    assert search_passages([root], "customers", limit=5).total == 2


def test_a_look_at_unchanged_files_does_not_read_them(root, files, monkeypatch):
    index_root(root)
    monkeypatch.setattr("assistants.documents.folder.Folder.read", lambda *args, **kwargs: pytest.fail("read"))
    indexing.forget_checks()

    assert indexing.refresh([root])


def test_a_pass_that_runs_out_of_time_goes_on_with_the_next(root, folder, monkeypatch):
    for number in range(6):
        (folder / f"{number}.md").write_text(f"Word{number}.\n")
    ticks = iter(range(100))
    monkeypatch.setattr(clock, "monotonic", lambda: float(next(ticks)))

    first = index_root(root, trust_times=True, seconds=3)
    monkeypatch.undo()
    second = index_root(root, trust_times=True, seconds=60)

    assert not first.complete and 0 < first.documents < 6
    assert second.complete and second.documents == 6


def test_a_pass_that_breaks_off_is_not_taken_for_the_one_before(root, files, monkeypatch):
    index_root(root)
    monkeypatch.setattr("assistants.documents.indexing.Scan.run", lambda scan: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        index_root(root)

    root.refresh_from_db()
    assert "broke off (ZeroDivisionError)" in root.report["problem"] and root.report["documents"] == 2


def test_a_folder_that_is_away_keeps_what_was_indexed(root, files):
    index_root(root)
    files.rename(files.parent / "elsewhere")

    with pytest.raises(CodedError) as refused:
        index_root(root)

    assert refused.value.code == "FOLDER_UNREADABLE"
    root.refresh_from_db()
    assert "does not exist" in root.report["problem"] and root.report["documents"] == 2
    assert found(root, "customers") == ["handbook/returns.md"]
    (files.parent / "elsewhere").rename(files)
    assert found(root, "customers") == ["handbook/returns.md"]
    root.refresh_from_db()
    assert root.report["problem"] == ""


def test_whoever_deletes_documents_leaves_nothing_in_the_index(root, files):
    index_root(root)
    assert rows()

    DocumentRoot.objects.all().delete()

    assert rows() == []


def test_an_index_whose_table_was_built_anew_is_put_in_step(root, files):
    index_root(root)
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER passage_gone" + ("" if connection.vendor == "sqlite" else " ON assistants_passage"))
    Document.objects.filter(path="returns.md").delete()
    assert len(rows()) == 2

    keep_in_step()

    assert len(rows()) == 1
    Document.objects.all().delete()
    assert rows() == []


def test_two_roots_may_hold_the_same_files(ground, root, files):
    other = DocumentRoot.objects.create(tenant=ground.bears, name="handbook", path=str(files))
    index_root(root)
    index_root(other)

    index_root(root)

    assert root.documents.count() == other.documents.count() == 2


def index_in_memory(root):
    """A database in memory does not let a writer wait for those who read, as a file does."""
    try:
        for _ in range(100):
            with suppress(OperationalError):
                return index_root(root)
            time.sleep(0.05)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_second_pass_over_a_root_waits_for_the_first(root, files, monkeypatch):
    root.refresh_from_db()
    with indexing._lock_of(root.pk):
        report = index_root(root, seconds=0.05)
    assert not report.complete and report.documents == 0

    threads = [threading.Thread(target=index_in_memory, args=[root]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert root.documents.count() == 2
    assert len(rows()) == 2


@pytest.mark.django_db(transaction=True)
def test_a_large_folder_is_looked_through_beside_the_search(root, files, monkeypatch):
    index_root(root)
    monkeypatch.setattr(indexing, "LARGE", 1)
    (files / "late.md").write_text("The canoe is late.\n")
    root.refresh_from_db()
    indexing.forget_checks()

    assert indexing.refresh([root])
    for thread in threading.enumerate():
        if thread.name == f"index-{root.pk}":
            thread.join(20)

    assert root.documents.filter(path="late.md").exists()


def test_what_an_older_version_read_is_read_anew_and_mirrored(root, files):
    index_root(root)
    Document.objects.update(digest="of another way of reading")
    Mirror(root.pk).clear()
    DocumentRoot.objects.update(report={"documents": 2})
    root.refresh_from_db()
    indexing.forget_checks()

    assert indexing.refresh([root])

    assert Mirror(root.pk).holds("returns.md") and Mirror(root.pk).holds("sub/price.csv")
    indexing.forget_checks()
    assert index_root(root, trust_times=True).unchanged == 2


def test_a_name_too_long_for_the_mirror_stops_no_later_pass(root, folder):
    (folder / f"{'n' * 252}.md").write_text("# Long\n\nThe numbat rests for two hours.\n")
    index_root(root)
    (folder / "late.md").write_text("# Late\n\nThe quokka rests for three hours.\n")

    again = index_root(root)

    assert [each.reason for each in again.skipped] == ["its name is too long for the mirror"]
    assert (again.added, again.unchanged) == (1, 1)
    assert found(root, "quokka") == ["handbook/late.md"]


@pytest.mark.parametrize("step", ["write", "remove"])
def test_a_pass_that_ends_at_any_step_leaves_no_mirror_of_another_time(root, files, monkeypatch, step):
    """The process may be killed between the database and the mirror."""
    index_root(root)
    (files / "returns.md").write_text("# Returns\n\nCustomers have fourteen days.\n")
    (files / "sub" / "price.csv").unlink()
    mirror, real = Mirror(root.pk), getattr(Mirror, step)

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Mirror, step, killed)
    with pytest.raises(KeyboardInterrupt):
        index_root(root)
    monkeypatch.setattr(Mirror, step, real)
    index_root(root)

    assert (mirror.folder / "returns.md.md").read_text() == Document.objects.get(path="returns.md").text
    assert "fourteen" in (mirror.folder / "returns.md.md").read_text()
    assert not mirror.holds("sub/price.csv") and not Document.objects.filter(path="sub/price.csv").exists()


def test_nobody_else_on_the_machine_reads_the_mirror(root, files):
    (files / "returns.md").unlink()
    before = os.umask(0o022)
    try:
        index_root(root)
    finally:
        os.umask(before)

    mirror = Mirror(root.pk)
    assert mirror.holds("sub/price.csv")
    assert [each.stat().st_mode & 0o077 for each in (mirror.folder.parent, mirror.folder)] == [0, 0]


def test_a_pass_says_how_far_it_is(root, files, monkeypatch):
    monkeypatch.setattr(indexing, "TOLD_EVERY", 0.0)
    counted, stored = [], []

    def count(done, total):
        stored.append(DocumentRoot.objects.get(pk=root.pk).report.get("progress", {}).get("done"))
        counted.append((done, total))

    index_root(root, count=count)

    assert counted == [(0, 2), (1, 2), (2, 2)]
    assert stored == [None, 0, 1]
    root.refresh_from_db()
    assert "progress" not in root.report


def test_many_files_are_read_by_helpers_with_the_same_result(root, folder, monkeypatch):
    for number in range(40):
        (folder / f"{number:02}.md").write_text(f"# Paper {number}\n\nWord{number} stands here, and Rückgabefristen.\n")
    (folder / "noise.md").write_bytes(b"\0")
    alone = index_root(root)
    before = list(Passage.objects.order_by("document__path").values_list("document__path", "first_line", "heading", "text"))
    Document.objects.all().delete()
    monkeypatch.setattr(intake, "WORTH_HELP", 0)

    helped = index_root(root)

    after = list(Passage.objects.order_by("document__path").values_list("document__path", "first_line", "heading", "text"))
    assert (counts(helped), after) == (counts(alone), before)
    assert [each.reason for each in helped.failed] == ["not text"]
    assert found(root, "word17") == ["handbook/17.md"]


def test_the_command_says_what_became_of_each_file(root, files):
    (files / "scan.png").write_bytes(b"PNG")
    (files / "noise.md").write_bytes(b"\0")
    out = StringIO()

    call_command("index", "--tenant=apes", "--root=handbook", stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[0] == f"apes/handbook: {files}"
    assert "  returns.md: new, 1 passages" in lines
    assert "  scan.png: skipped: not a kind of file that is read" in lines
    assert "  noise.md: failed: not text" in lines
    assert lines[-1].startswith("  2 documents in 2 passages: 2 new, 0 changed, 0 gone, 0 unchanged, 1 skipped, 1 failed, in ")


def test_the_command_shows_no_name_that_a_terminal_would_obey(root, folder):
    (folder / "red\x1b[31m\nready.md").write_text("# Red\n")
    out = StringIO()

    call_command("index", stdout=out)

    assert "  red�[31m�ready.md: skipped: its name is not plain text" in out.getvalue().splitlines()
    assert "\x1b" not in out.getvalue()


def test_the_command_fails_for_a_folder_that_cannot_be_read(root, files):
    DocumentRoot.objects.create(tenant=root.tenant, name="gone", path="/no/such/folder")
    err = StringIO()

    with pytest.raises(CommandError, match="Not read: apes/gone"):
        call_command("index", stdout=StringIO(), stderr=err)

    assert "does not exist" in err.getvalue()
    assert root.documents.count() == 2
    with pytest.raises(CommandError, match="no such folder"):
        call_command("index", "--tenant=nobody")


def test_files_that_a_helper_is_handed_together_keep_their_own_text(root, folder, monkeypatch):
    monkeypatch.setattr(intake, "WORTH_HELP", 0)
    texts = {f"{number:03}.md": f"Canoe number {number}." for number in range(100)}
    texts |= {"large.md": "Paddles.\n\n" * 20_000, "zz.md": "The last one."}
    for path, text in texts.items():
        (folder / path).write_text(text)
    (folder / "050.md").write_bytes(b"\0")
    del texts["050.md"]

    report = index_root(root)

    assert counts(report) == (101, 0, 0, 0) and [each.path for each in report.failed] == ["050.md"]
    assert dict(root.documents.values_list("path", "text")) == texts
    assert rows() == list(Passage.objects.order_by("pk").values_list("pk", flat=True))
    (folder / "051.md").write_text("A new canoe.")
    assert counts(index_root(root)) == (0, 1, 0, 100)
    assert root.documents.get(path="051.md").text == "A new canoe."


def test_a_group_of_files_is_bounded_in_number_and_size_and_what_is_converted_stands_alone():
    def sizes(*files):
        return [[each.path for each in group] for group in intake._together([File(*each, 0) for each in files])]

    assert sizes(("a.md", 10), ("b.pdf", 10), ("c.md", 10), ("d.md", 10)) == [["a.md"], ["b.pdf"], ["c.md", "d.md"]]
    assert sizes(("a.md", 40_000), ("b.md", 40_000), ("c.md", 70_000)) == [["a.md"], ["b.md"], ["c.md"]]
    assert [len(group) for group in sizes(*((f"{number}.md", 1) for number in range(70)))] == [32, 32, 6]
