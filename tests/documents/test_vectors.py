"""Searching by meaning, where its optional model is installed."""

import pytest

from assistants.documents import indexing, vectors
from assistants.documents.indexing import index_root
from assistants.documents.methods import vector_hits
from assistants.models import DocumentRoot

pytest.importorskip("wordllama")


@pytest.fixture
def files(folder):
    (folder / "pets.md").write_text("The cat sleeps on the sofa.\n")
    (folder / "tax.md").write_text("Invoices are paid within thirty days.\n")
    return folder


def sources(root, query):
    indexing.forget_checks()
    return [hit.source for hit in vector_hits([root], query, 1)]


def test_a_passage_is_found_by_what_it_means(root, files):
    assert sources(root, "a kitten on the couch") == ["handbook/pets.md"]


def test_vectors_follow_the_folder_and_outlive_the_process(root, files):
    sources(root, "a kitten on the couch")
    (files / "boats.md").write_text("A canoe needs a paddle.\n")
    (files / "pets.md").unlink()
    index_root(root)
    vectors._held.clear()
    root.refresh_from_db()

    assert sources(root, "rowing a boat") == ["handbook/boats.md"]
    assert len(vectors._held[root.pk].ids) == 2


def test_s10_meaning_finds_nothing_in_other_roots(ground, root, files, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.md").write_text("A kitten on the couch.\n")
    index_root(DocumentRoot.objects.create(tenant=ground.bears, name="hidden", path=str(other)))

    assert sources(root, "a kitten on the couch") == ["handbook/pets.md"]
    assert vector_hits([], "a kitten", 3) == []
