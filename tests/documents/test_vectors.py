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


def test_a_sentence_of_a_long_passage_is_found_by_what_it_means(root, files):
    tax = [f"Invoice {number} is paid within thirty days by the bank to the supplier." for number in range(18)]
    (files / "notes.md").write_text("\n".join([*tax[:9], "A kitten naps on the couch near the fire.", *tax[9:]]) + "\n")
    (files / "pets.md").write_text("Pets are allowed in the house.\n")

    assert sources(root, "a cat sleeps on the sofa") == ["handbook/notes.md"]


def test_vectors_of_an_older_form_are_made_anew(root, files):
    import numpy

    sources(root, "a kitten on the couch")
    stored = vectors._load(root.pk)
    numpy.savez(vectors._file(root.pk), ids=stored.ids, rows=stored.rows.astype("float16"))
    vectors._held.clear()

    assert sources(root, "a kitten on the couch") == ["handbook/pets.md"]
    assert vectors._held[root.pk].rows.dtype == numpy.int8
