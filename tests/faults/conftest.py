"""The stub model, the template databases, and clusters that serve one test after the other as long as they are whole."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.cluster import PROFILES, Cluster
from tests.faults.nursery import Nursery
from tests.faults.stores import Postgres, PostgresData, Redis, SqliteData, open_folder, why_no_services
from tests.kit.stub_llm import StubLLM


@dataclass
class Ground:
    """What all clusters of a session share: the model, the process that forks them, and a template for each profile."""

    llm: StubLLM
    nursery: Nursery
    folder: Path = field(default_factory=open_folder)
    postgres: Postgres | None = None
    _templates: dict[str, tuple[Path, str]] = field(default_factory=dict)

    def build(self, profile: str, home: Path | None = None, **options: object) -> Cluster:
        """A new cluster, not started yet; in a folder of its own, or in the one that is given."""
        template, database = self._template(profile)
        home = home or open_folder()
        shutil.copytree(template, home, dirs_exist_ok=True)
        sessions = json.loads((home / "sessions.json").read_text())
        if profile == "embedded":
            return Cluster(profile, home, sessions, nursery=self.nursery, data=SqliteData(home), **options)
        assert self.postgres
        data = PostgresData(self.postgres, self.postgres.create(database.rpartition("/")[2]))
        return Cluster(profile, home, sessions, nursery=self.nursery, data=data, redis=Redis(), **options)

    def _template(self, profile: str) -> tuple[Path, str]:
        """A migrated home with two users and three assistants, and the URL of its database; made once."""
        if profile not in self._templates:
            home, url = self.folder / profile, ""
            home.mkdir()
            if profile == "full":
                self.postgres = Postgres()
                self.postgres.start()
                url = self.postgres.create()
            blank = Cluster(profile, home, {"alice": ""}, nursery=self.nursery, data=SqliteData(home))
            environment = {**blank.environment("server"), "DATABASE_URL": url, "STUB_URL": self.llm.url}
            blank.listener.close()
            code = self.nursery.run("tests.faults.prepare", environment, home / "server.log")
            assert code == 0, (home / "server.log").read_text()
            self._templates[profile] = (home, url)
        return self._templates[profile]

    def remove(self) -> None:
        self.nursery.close()
        if self.postgres:
            self.postgres.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def ground() -> Iterator[Ground]:
    with StubLLM() as llm:
        made = Ground(llm, Nursery())
        yield made
        made.remove()


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
