"""What all clusters of one run share: the stub model, the process that forks servers, and a template for each profile."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.cluster import Cluster
from tests.faults.nursery import Nursery
from tests.faults.stores import Postgres, PostgresData, Redis, SqliteData, open_folder
from tests.kit.stub_llm import StubLLM


@dataclass
class Ground:
    """Makes clusters."""

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


@contextmanager
def open_ground() -> Iterator[Ground]:
    """A ground that is gone without a trace afterwards."""
    with StubLLM() as llm:
        made = Ground(llm, Nursery())
        try:
            yield made
        finally:
            made.remove()
