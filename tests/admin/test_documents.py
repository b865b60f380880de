"""Folders of documents: named by the superuser, read again by a team's admin."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from assistants.documents.indexing import index_root
from assistants.models import AuditEntry, DocumentRoot

from .forms import address, errors_of


@pytest.fixture
def papers(ground, tmp_path) -> DocumentRoot:
    (tmp_path / "leave.md").write_text("# Leave\n\nThirty days a year.\n")
    return DocumentRoot.objects.create(tenant=ground.apes, name="Papers", path=str(tmp_path))


def add(client, tenant, path: object):
    return client.post(address("documentroot", "add", tenant=tenant.pk), {"name": "Papers", "path": str(path)})


def test_a_folder_that_is_there_is_added(ground, root, tmp_path) -> None:
    response = add(root, ground.apes, tmp_path)

    assert response.status_code == 302
    assert DocumentRoot.objects.get().tenant == ground.apes
    assert AuditEntry.objects.get(action="documentroot.added").tenant == ground.apes


def test_a_folder_that_is_not_there_is_refused(ground, root, tmp_path) -> None:
    (tmp_path / "file.txt").write_text("x")

    for path in (tmp_path / "none", tmp_path / "file.txt", "papers", "../papers", "/" + "n" * 300):
        assert "path" in errors_of(add(root, ground.apes, path))
    assert not DocumentRoot.objects.exists()


def test_s34_the_servers_own_data_are_no_documents(ground, root, tmp_path) -> None:
    (tmp_path / "link").symlink_to(settings.HOME)

    for path in (settings.HOME, settings.HOME.parent, "/", tmp_path / "link"):
        assert "database and secret key" in errors_of(add(root, ground.apes, path))["path"][0]


def test_s34_what_the_site_keeps_of_other_folders_is_no_folder_of_documents(ground, root, settings, tmp_path) -> None:
    settings.HOME = tmp_path / "data"
    (settings.HOME / "mirrors" / "1").mkdir(parents=True)
    (tmp_path / "link").symlink_to(settings.HOME / "mirrors")

    for path in (settings.HOME / "mirrors" / "1", tmp_path / "link", tmp_path / "link" / ".." / "mirrors"):
        assert "the site's own data" in errors_of(add(root, ground.apes, path))["path"][0]
    assert not DocumentRoot.objects.exists()


def test_s33_only_the_superuser_names_a_folder(ground, alice, papers) -> None:
    added = add(alice, ground.apes, "/etc")
    renamed = alice.post(address("documentroot", "change", papers.pk), {"name": "Our papers", "path": "/etc"})
    deleted = alice.post(address("documentroot", "delete", papers.pk), {"post": "yes"})

    assert [added.status_code, renamed.status_code, deleted.status_code] == [403, 302, 403]
    stored = DocumentRoot.objects.get()
    assert (stored.name, stored.path) == ("Our papers", papers.path)


def test_a_teams_admin_has_a_folder_read_again_and_sees_what_was_found(ground, alice, papers) -> None:
    data = {"action": "reindex", "_selected_action": [papers.pk]}

    before = alice.get(address("documentroot", "change", papers.pk)).content.decode()
    told = alice.post(address("documentroot", "changelist"), data, follow=True).content.decode()
    after = alice.get(address("documentroot", "change", papers.pk)).content.decode()

    assert "Not read yet" in before
    assert "Papers: 1 documents, 1 of them new, changed or gone." in told
    assert "1 documents in 1 passages" in after
    assert papers.documents.get().path == "leave.md"
    assert AuditEntry.objects.get(action="documentroot.indexed").target == f"documentroot {papers.pk}"


def test_a_folder_that_went_away_is_a_plain_sentence(ground, alice) -> None:
    gone = DocumentRoot.objects.create(tenant=ground.apes, name="Gone", path="/nowhere/at/all")
    data = {"action": "reindex", "_selected_action": [gone.pk]}

    page = alice.post(address("documentroot", "changelist"), data, follow=True).content.decode()

    assert "Gone: " in page
    assert "Traceback" not in page


def test_a_deleted_folder_takes_its_index_along(ground, root, alice, papers) -> None:
    alice.post(address("documentroot", "changelist"), {"action": "reindex", "_selected_action": [papers.pk]})

    root.post(address("documentroot", "delete", papers.pk), {"post": "yes"})

    assert not DocumentRoot.objects.exists()


def test_the_list_shows_how_far_a_folder_is_read_and_looks_again_by_itself(ground, alice, papers) -> None:
    at = timezone.now()
    papers.report = {"documents": 3, "progress": {"done": 120, "total": 400, "at": at.isoformat()}}
    papers.save()

    going = alice.get(address("documentroot", "changelist"))
    papers.report["progress"]["at"] = (at - timedelta(minutes=5)).isoformat()
    papers.save()
    stalled = alice.get(address("documentroot", "changelist"))

    assert '<progress value="120" max="400"></progress> reading: 120 of 400 files' in going.content.decode()
    assert going["Refresh"] == "3"
    assert "broken off at 120 of 400 files: index it again" in stalled.content.decode()
    assert "Refresh" not in stalled


def test_files_that_could_not_be_read_are_named_with_the_reason(ground, alice, papers, tmp_path) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"rubbish")
    data = {"action": "reindex", "_selected_action": [papers.pk]}

    listed = alice.post(address("documentroot", "changelist"), data, follow=True).content.decode()
    page = alice.get(address("documentroot", "change", papers.pk)).content.decode()

    assert "ready, 1 files failed" in listed
    assert "<code>scan.pdf</code> not a PDF file, or damaged" in page


def test_a_german_admin_reads_why_a_file_or_a_folder_was_not_read(ground, alice, root, papers, tmp_path) -> None:
    (tmp_path / "noise.md").write_bytes(b"\0\1")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    index_root(papers)
    german = {"headers": {"Accept-Language": "de"}}

    page = alice.get(address("documentroot", "change", papers.pk), **german).content.decode()
    data = {"name": "None", "path": str(tmp_path / "none")}
    refused = root.post(address("documentroot", "add", tenant=ground.apes.pk), data, **german)

    for told in ("kein Text", "keine PDF-Datei, oder beschädigt", "eine Verknüpfung, die aus dem Ordner hinaus"):
        assert told in page
    assert errors_of(refused)["path"][0].startswith("Diesen Ordner gibt es auf diesem Server nicht. Geben Sie")
