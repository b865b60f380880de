"""PDF, office files and mail become text with the names of its places, in a process of its own within limits (S38)."""

import os
import resource
import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from assistants.documents.conversion.child import convert
from assistants.documents.conversion.converted import Unreadable
from assistants.documents.conversion.converter import Converter, _ready
from assistants.documents.indexing import index_root
from assistants.documents.mirror import Mirror
from assistants.documents.prepare import prepare
from assistants.documents.reading import read_lines
from assistants.documents.searching import search_passages
from assistants.errors import CodedError

from . import office

MAIL = b"""From: Ada <ada@example.org>
To: bob@example.org
Subject: =?utf-8?q?R=C3=BCckgabe?=
Date: Mon, 1 Jan 2024 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

The canoe comes back.
--b
Content-Type: message/rfc822

From: carol@example.org
Subject: Inner

The paddle stays.
--b
Content-Type: application/pdf; name="bill.pdf"
Content-Disposition: attachment; filename="bill.pdf"

xx
--b--
"""


@pytest.fixture(scope="module")
def converter():
    with Converter() as made:
        yield made


def places(ready):
    return [(cut.anchor, cut.text) for cut in ready.cuts]


def reason(converter, path, data):
    with pytest.raises(Unreadable) as refused:
        converter.prepare(path, data)
    return str(refused.value)


def test_every_page_of_a_pdf_is_a_place(converter):
    ready = converter.prepare("a/q3-report.pdf", office.pdf("Zippers are late", "Canoes are early"))

    assert places(ready) == [("page 1", "Zippers are late"), ("page 2", "Canoes are early")]
    assert ready.text.split("\n") == ["<!-- page 1 -->", "Zippers are late", "", "<!-- page 2 -->", "Canoes are early"]
    assert (ready.cuts[1].first, ready.cuts[1].last) == (5, 5)
    assert ready.title == "q3 report"


def test_every_sheet_is_a_place_and_every_row_names_its_columns(converter):
    rows = office.row(1, "Monat", "Umsatz") + office.row(2, "Mai", "1200")

    ready = converter.prepare("x.xlsx", office.xlsx({"Umsatz": rows, "Leer": "", "Kosten": office.row(1, "Miete")}))

    assert places(ready) == [("sheet Umsatz", "Monat; Umsatz\n- Monat: Mai; Umsatz: 1200"), ("sheet Kosten", "Miete")]


def test_every_slide_is_a_place_with_its_title_as_heading(converter):
    ready = converter.prepare("x.pptx", office.pptx(("Ziele", "Mehr Boote"), ("Ende", "Danke")))

    assert places(ready) == [("slide 1", "## Ziele\n\nMehr Boote"), ("slide 2", "## Ende\n\nDanke")]


def test_a_word_document_is_its_paragraphs(converter):
    ready = converter.prepare("x.docx", office.docx("Customers have 30 days.", "Sale items 14."))

    assert ready.text == "Customers have 30 days.\n\nSale items 14."


def test_the_title_of_a_word_document_is_a_heading_whatever_language_its_program_speaks(converter):
    ready = converter.prepare("x.docx", office.docx("Customers have 30 days.", title="Returns"))

    assert (ready.title, ready.text) == ("Returns", "# Returns\n\nCustomers have 30 days.")


def test_a_mail_says_who_wrote_it_and_holds_the_mail_inside_of_it(converter):
    ready = converter.prepare("x.eml", MAIL)

    assert ready.title == "Rückgabe"
    assert "From: Ada <ada@example.org>" in ready.text and "Attachments, not read: bill.pdf" in ready.text
    assert [(anchor, "canoe" in text, "paddle" in text) for anchor, text in places(ready)] == [
        ("", True, False),
        ("attached message 1", False, True),
    ]


@pytest.mark.parametrize("ending", ["pdf", "docx", "xlsx", "xls", "ods", "pptx", "eml"])
def test_a_broken_file_costs_only_itself(converter, ending):
    assert reason(converter, f"x.{ending}", b"rubbish" * 200)
    assert reason(converter, f"x.{ending}", b"")

    assert converter.prepare("x.docx", office.docx("Still here.")).text == "Still here."


def test_a_place_cannot_forge_the_end_of_its_own_mark(converter):
    ready = converter.prepare("x.xlsx", office.xlsx({"a--&gt; b": office.row(1, "x")}))

    assert ready.text.startswith("<!-- sheet a-> b -->\n")


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("bomb.docx", office.zip_bomb),
        ("liar.docx", office.lying_zip),
        ("nested.docx", office.nested_zip),
        ("laughs.docx", office.laughing_docx),
        ("stacked.pdf", office.stacked_pdf),
        ("deep.eml", lambda: b"From: a@b.c\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 10_000),
        ("nest.eml", lambda: b"From: a@b.c\nContent-Type: message/rfc822\n\n" * 3000),
    ],
)
def test_s38_a_bomb_is_refused_or_read_in_bounds_and_the_next_file_is_read(converter, path, make):
    data = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()

    try:
        ready = converter.prepare(path, data)
    except Unreadable as refused:
        assert str(refused)
    else:
        assert len(ready.text) < 100_000

    assert time.monotonic() - started < 35
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert converter.prepare("x.docx", office.docx("Still here.")).text == "Still here."


def test_s38_a_sheet_of_a_million_cells_is_read_as_far_as_there_is_room(converter):
    ready = converter.prepare("big.xlsx", office.large_sheet(100_000, 10))

    assert len(ready.text) < 9_000_000
    assert ready.note == "" or "too long" in ready.note


def test_report_u3_a_file_that_is_not_read_to_its_end_says_so(root, folder):
    (folder / "big.xlsx").write_bytes(office.large_sheet(120_000, 20))

    report = index_root(root)

    assert [(each.path, each.reason) for each in report.partly] == [("big.xlsx", "the rest was not read: it is too long")]
    last = root.documents.get().text.rsplit("\n", 1)[1]
    assert last == "[Not all of this file is here: the rest was not read: it is too long.]"
    root.refresh_from_db()
    assert root.report["partly"][0]["path"] == "big.xlsx"


def test_s38_the_process_bounds_its_memory_and_its_files_and_has_no_secrets(converter, monkeypatch):
    monkeypatch.setenv("TASKMONKEY_SECRET_KEY", "canary")
    with Converter() as fresh:
        fresh.prepare("x.docx", office.docx("x"))
        process = Path("/proc", str(fresh._process.pid))
        limits, environment = (process / "limits").read_text(), (process / "environ").read_text()

    assert f"Max address space         {512 * 1024 * 1024}" in limits
    assert "Max file size             0 " in limits
    assert "canary" not in environment


def test_s38_a_reader_that_hangs_is_killed_and_replaced():
    with Converter(seconds=2.0) as impatient:
        impatient.prepare("x.docx", office.docx("x"))
        first = impatient._process
        os.kill(first.pid, 19)
        assert reason(impatient, "x.docx", office.docx("y")) == "takes too long to read"

        assert first.returncode is not None
        assert impatient.prepare("x.docx", office.docx("z")).text == "z"


def test_s38_a_reader_that_dies_is_replaced():
    with Converter() as converter:
        converter.prepare("x.docx", office.docx("x"))
        os.kill(converter._process.pid, 9)
        converter._process.wait()

        assert converter.prepare("x.docx", office.docx("z")).text == "z"


def test_s38_of_several_files_only_the_one_at_which_the_process_ends_is_lost():
    files = [(f"{name}.md", f"{name} is here.".encode()) for name in ("first", "second", "third")]
    with Converter() as converter:
        converter.prepare("x.md", b"x")
        frozen = converter._process
        os.kill(frozen.pid, signal.SIGSTOP)
        threading.Timer(0.5, frozen.kill).start()

        first, *others = converter.prepare_all(files)

    assert str(first) == "too much for its reader, which broke off"
    assert [each.text for each in others] == ["second is here.", "third is here."]


def test_more_files_than_the_pipes_hold_are_answered_in_their_order(converter):
    files = [(f"{number}.md", b"%d canoes\n\n" % number * 3000) for number in range(60)]
    files[30] = ("30.md", b"\0 is no text")

    made = converter.prepare_all(files)

    assert str(made.pop(30)) == "not text"
    assert [ready.text.split(" ", 1)[0] for ready in made] == [str(number) for number in range(60) if number != 30]


@pytest.mark.parametrize(
    "answer",
    [
        ([[1, 1]], [2, -2, 2, 0, 0, 0, 0, 0, 0, 0]),
        ([[1, 1]], [9, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ([[1, 1]], [2, 0, 0]),
        ([[1, 1]], [2, 0, 0, 0]),
        ([], [2, "x", 0]),
        ([], []),
        ([["x", 1]], [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        7,
    ],
)
def test_s38_an_answer_of_another_shape_is_none(answer):
    assert str(_ready(answer, "ab")) == "damaged"


def test_an_answer_says_what_was_prepared(converter):
    data = "# Grüße 🛶\n\nCanoes.\n\n".encode() + b"Paddles of the long river.\n\n" * 200

    assert converter.prepare("sub/canoes.md", data) == prepare("sub/canoes.md", data, convert)


def test_s38_pictures_and_archives_are_not_opened_at_all(root, folder):
    (folder / "wall.png").write_bytes(office.large_picture(50_000))
    (folder / "nested.zip").write_bytes(office.nested_zip())

    report = index_root(root)

    assert {each.path: each.reason for each in report.skipped} == dict.fromkeys(
        ("nested.zip", "wall.png"), "not a kind of file that is read"
    )


def test_a_file_that_failed_is_not_tried_again_until_it_changes(root, folder, monkeypatch):
    index_root(root)
    (folder / "x.pdf").write_bytes(b"rubbish")
    assert [each.path for each in index_root(root, trust_times=True).failed] == ["x.pdf"]
    root.refresh_from_db()
    tried = []
    prepare_all = Converter.prepare_all
    monkeypatch.setattr(
        Converter, "prepare_all", lambda self, files: tried.extend(path for path, _ in files) or prepare_all(self, files)
    )

    again = index_root(root, trust_times=True)
    (folder / "x.pdf").write_bytes(office.pdf("Mended now"))
    mended = index_root(root, trust_times=True)

    assert [each.path for each in again.failed] == ["x.pdf"]
    assert tried == ["x.pdf"]
    assert mended.failed == () and mended.added == 1


def test_a_hit_names_its_page_and_is_read_there(root, folder):
    (folder / "report.pdf").write_bytes(office.pdf("Zippers are late", "Canoes are early"))

    hit = search_passages([root], "canoes", limit=1).hits[0]

    assert (hit.document, hit.place) == ("handbook/report.pdf", "page 2, line 5")
    assert read_lines([root], hit.document, start=hit.first_line, lines=1).text == "Canoes are early"


def test_nothing_is_ever_written_into_the_folder(root, folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "report.pdf").write_bytes(office.pdf("Zippers are late"))
    (folder / "notes.md").write_text("Canoes are early.\n")
    for path in (folder / "sub", folder):
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    before = {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}

    report = index_root(root)

    for path in (folder, folder / "sub"):
        path.chmod(0o700)
    assert report.documents == 2
    assert {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))} == before
    assert (Mirror(root.pk).folder / "sub" / "report.pdf.md").read_text() == "<!-- page 1 -->\nZippers are late"
    assert (Mirror(root.pk).folder / "notes.md.md").read_text() == "Canoes are early.\n"


def test_the_mirror_follows_the_folder_and_goes_with_the_root(root, folder, django_capture_on_commit_callbacks):
    (folder / "notes.md").write_text("One.\n")
    (folder / "gone.md").write_text("Two.\n")
    index_root(root)
    mirror = Mirror(root.pk)
    (folder / "gone.md").unlink()
    (mirror.folder / "notes.md.md").unlink()

    report = index_root(root)

    assert (report.unchanged, report.removed) == (1, 1)
    assert mirror.holds("notes.md") and not mirror.holds("gone.md")
    with django_capture_on_commit_callbacks(execute=True):
        root.delete()
    assert not mirror.folder.exists()


def test_a24_a_root_that_leads_elsewhere_than_before_is_refused(root, folder, tmp_path):
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(folder)
    other.mkdir()
    (other / "secret.md").write_text("canary\n")
    (folder / "notes.md").write_text("One.\n")
    root.path = str(link)
    root.save()
    index_root(root)
    link.unlink()
    link.symlink_to(other)

    with pytest.raises(CodedError) as refused:
        index_root(root)

    assert refused.value.code == "FOLDER_MOVED"
    assert [each.path for each in root.documents.all()] == ["notes.md"]
    root.path = str(other)
    root.save()
    assert index_root(root).documents == 1
