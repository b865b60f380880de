"""A folder that tests write into, and the root that stands for it."""

from pathlib import Path

import pytest

from assistants.documents import indexing
from assistants.models import DocumentRoot


@pytest.fixture(autouse=True)
def forget_checks():
    indexing.forget_checks()


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


@pytest.fixture
def root(ground, folder) -> DocumentRoot:
    return DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(folder))
