"""The locks hold what the .in files ask for, with hashes, and agree with each other."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?P<rest>[^\n]*(?:\n    --hash=\S+(?: \\)?)*)", re.M)


def asked(file: str) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-r")]


def pinned(file: str) -> dict[str, set[str]]:
    """Every package of a lock with its versions: more than one where the machine or the Python decides."""
    versions: dict[str, set[str]] = {}
    for pin in PIN.finditer((ROOT / file).read_text()):
        versions.setdefault(canonicalize_name(pin["name"]), set()).add(pin["version"])
    return versions


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_a_lock_holds_every_package_that_is_asked_for(name: str) -> None:
    lock = pinned(f"{name}.txt")

    for wanted in asked(f"{name}.in"):
        versions = lock.get(canonicalize_name(wanted.name), set())
        assert versions, f"{wanted.name} is not in {name}.txt: run `make lock`"
        assert all(wanted.specifier.contains(version) for version in versions), f"{wanted} is not what {name}.txt holds"


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_a_lock_names_hashes_and_no_registry(name: str) -> None:
    text = (ROOT / f"{name}.txt").read_text()

    assert [pin["name"] for pin in PIN.finditer(text) if "--hash=sha256:" not in pin["rest"]] == []
    assert "://" not in text


def test_the_tests_run_on_the_versions_that_are_shipped() -> None:
    shipped, tested = pinned("requirements.txt"), pinned("requirements-dev.txt")

    assert {package: versions for package, versions in shipped.items() if tested.get(package) != versions} == {}
