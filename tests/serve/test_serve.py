"""`manage.py serve`, as a newcomer starts it: one link, one port, and a server that comes back."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.serve.conftest import ROOT, alive, kill, until

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)(/\S*)")


class Site:
    """A served site with a home of its own."""

    def __init__(self, home: Path, *arguments: str, output: Path) -> None:
        self.output = output
        with output.open("w") as file:
            self.process = subprocess.Popen(
                manage("serve", *arguments), cwd=ROOT, env=environment(home), stdout=file, stderr=file
            )
        self.started = self.process.pid

    def link(self) -> re.Match[str]:
        """Waits for the printed link."""
        until(lambda: LINK.search(self.output.read_text()) or self.process.poll() is not None, seconds=180)
        found = LINK.search(self.output.read_text())
        assert found, self.output.read_text()
        return found

    def children(self) -> list[int]:
        """The server processes under the supervisor."""
        return list(map(int, Path(f"/proc/{self.started}/task/{self.started}/children").read_text().split()))

    def visit(self) -> httpx2.Client:
        """A visitor with cookies of their own."""
        return httpx2.Client(base_url=f"http://127.0.0.1:{self.link()[1]}", timeout=60, follow_redirects=True, trust_env=False)

    def status(self, path: str) -> int:
        with self.visit() as visitor:
            return visitor.get(path).status_code

    def end(self) -> None:
        """Stops the site, by force if it must be."""
        self.process.terminate()
        self.process.wait(timeout=60)


def manage(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TASKMONKEY_", "DJANGO_"))}
    return kept | {"TASKMONKEY_HOME": str(home), "TASKMONKEY_MODEL": "builtin", "TASKMONKEY_SQLITE_SYNCHRONOUS": "OFF"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    site = Site(home, "--port=0", "--prepare", output=home / "output")
    site.link()
    yield site
    site.end()


def test_one_link_is_printed_and_signs_in_only_once(site: Site) -> None:
    link = site.link()[2]

    with site.visit() as visitor:
        door = visitor.get(link)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', door.text)
        assert token
        home = visitor.post(link, data={"csrfmiddlewaretoken": token[1]})
    again = site.status(link)

    assert len(LINK.findall(site.output.read_text())) == 1
    assert (home.status_code, home.url.path) == (200, "/")
    assert again == 410


def test_a_taken_port_is_refused_with_a_sentence(site: Site, home: Path) -> None:
    port = site.link()[1]

    done = subprocess.run(manage("serve", f"--port={port}"), cwd=ROOT, env=environment(home), capture_output=True, text=True)

    assert done.returncode != 0
    assert f"Port {port} is already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_killed_server_answers_again_on_the_same_port(site: Site) -> None:
    site.link()
    (first,) = site.children()

    kill(first)
    status = site.status("/healthz")
    ready = site.status("/readyz")

    assert (status, ready) == (200, 200)
    assert site.children() != [first]


def test_a_server_does_not_outlive_its_killed_supervisor(site: Site, home: Path, tmp_path: Path) -> None:
    other = Site(home, "--port=0", "--no-link", output=tmp_path / "output")
    other.link()
    (child,) = other.children()

    other.process.kill()
    other.process.wait(timeout=60)

    until(lambda: not alive(child))


def test_uvicorn_serves_the_same_site(site: Site, home: Path, tmp_path: Path) -> None:
    other = Site(home, "--port=0", "--no-link", "--server=uvicorn", output=tmp_path / "output")

    status = other.status("/healthz")
    other.end()

    assert status == 200
    assert other.process.returncode == 0
