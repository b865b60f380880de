"""Clusters that serve one test after the other as long as they are whole, and some for a single test."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.cluster import PROFILES, Cluster
from tests.faults.ground import Ground, open_ground
from tests.faults.stores import why_no_services
from tests.kit.stub_llm import StubLLM


@pytest.fixture(scope="session")
def ground() -> Iterator[Ground]:
    with open_ground() as made:
        yield made


@pytest.fixture
def llm(ground: Ground) -> StubLLM:
    ground.llm.clear()
    return ground.llm


@pytest.fixture(scope="session")
def standing(ground: Ground) -> Iterator[dict[str, Cluster]]:
    """The clusters that are up, by profile."""
    found: dict[str, Cluster] = {}
    yield found
    for cluster in found.values():
        cluster.remove()


@pytest.fixture
def borrow(ground: Ground, standing: dict[str, Cluster], llm: StubLLM, request: pytest.FixtureRequest) -> Iterator[Callable]:
    """Lends a running cluster without conversations; one whose test fails is thrown away."""
    lent: list[str] = []

    def lend(profile: str) -> Cluster:
        if profile == "full" and (missing := why_no_services()):
            pytest.skip(missing)
        lent.append(profile)
        if profile not in standing:
            standing[profile] = ground.build(profile)
        standing[profile].renew()
        return standing[profile]

    yield lend
    if getattr(request.node, "failed", True):
        for profile in set(lent):
            if broken := standing.pop(profile, None):
                shutil.copy(broken.log, Path(tempfile.gettempdir(), f"taskmonkey-failed-{profile}.log"))
                broken.remove()


@pytest.fixture(params=list(PROFILES))
def cluster(request: pytest.FixtureRequest, borrow: Callable[[str], Cluster]) -> Cluster:
    return borrow(request.param)


@pytest.fixture
def full(borrow: Callable[[str], Cluster]) -> Cluster:
    return borrow("full")


@pytest.fixture
def embedded(borrow: Callable[[str], Cluster]) -> Cluster:
    return borrow("embedded")


@pytest.fixture
def build(ground: Ground, llm: StubLLM) -> Iterator[Callable[..., Cluster]]:
    """Makes clusters of a test's own, with settings of their own."""
    made: list[Cluster] = []

    def own(profile: str, **options: object) -> Cluster:
        if profile == "full" and (missing := why_no_services()):
            pytest.skip(missing)
        made.append(ground.build(profile, **options))
        return made[-1]

    yield own
    for cluster in made:
        cluster.remove()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    report = yield
    if call.when == "call":
        item.failed = report.failed
    return report
