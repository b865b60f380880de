"""A real server on a file database, or with TASKMONKEY_TEST_TEAM=1 a team of processes, and a real browser that visits it."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.ground import write_scripts
from tests.kit.waiting import until

ROOT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, "manage.py"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Without these Chromium looks for updates, or does not start in a container.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"
    " --disable-sync --disable-dev-shm-usage"
).split()
PATIENCE = 15_000
# What a panel waits for after a change, and from one drawing to the next, and a little for the drawing itself, in ms.
LAST_PANEL = 1_500
expect.set_options(timeout=PATIENCE)


@dataclass
class Site:
    """A running site: its address, what a process needs to know to write into its database, and what `ground.build` made."""

    url: str
    home: Path
    environment: dict[str, str]
    sessions: dict[str, str]
    chats: dict[str, str]

    def chat(self, name: str) -> str:
        return f"{self.url}/c/{self.chats[name]}/"


@dataclass
class Visit:
    """One browser window: the page and everything that went wrong in it."""

    page: Page
    context: BrowserContext
    site: Site
    complaints: list[str] = field(default_factory=list)

    def start_chat(self, text: str) -> Page:
        """Opens a new conversation with the lead by sending its first message."""
        self.page.goto(f"{self.site.url}/")
        self.page.fill("#text", text)
        self.page.press("#text", "Enter")
        self.page.wait_for_url("**/c/*/")
        return self.page

    def send(self, text: str) -> None:
        """Sends a message and waits until the page shows it."""
        shown = self.page.locator("#log > .user, .queued")
        before = shown.count()
        self.try_to_send(text)
        expect(shown.nth(before)).to_be_attached()

    def try_to_send(self, text: str) -> None:
        self.page.fill("#text", text)
        self.page.press("#text", "Enter")

    def at_rest(self) -> None:
        """Waits until nothing works in this conversation and the page has drawn it all."""
        self.page.wait_for_selector("#state[data-state=idle]", state="attached", timeout=PATIENCE)
        see_all_news(self.page)
        self.page.wait_for_timeout(150)

    def until(self, expression: str) -> None:
        """Waits until it is so in the page. Playwright's own way evaluates text there, which our policy forbids."""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never so: {expression}"
            time.sleep(0.05)

    def see_the_panel_out(self) -> None:
        """Waits until no clock runs in the panel, and then for as long as its last drawing may take after a turn's end."""
        running = self.page.locator("#panel [data-since]:not([data-since=''])")
        expect(running).to_have_count(0, timeout=PATIENCE)
        self.page.wait_for_timeout(LAST_PANEL)


def see_all_news(page: Page) -> None:
    """Waits until the page has drawn each event that there is: in a rush the last ones come seconds after how things stand."""
    address = page.evaluate("new URL('events/', location).href")

    def has_seen_all() -> bool:
        answer = page.request.get(address, params={"after": page.evaluate("document.getElementById('chat').dataset.seq")})
        assert answer.ok, (answer.status, answer.text())
        return not any("n" in frame for frame in answer.json()["events"])

    until(has_seen_all, seconds=PATIENCE / 1000)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("site")
    (home / "scripts").mkdir()
    write_scripts(home / "scripts")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, environment = f"http://127.0.0.1:{port}", own_environment(home)
    with (team_serving if os.environ.get("TASKMONKEY_TEST_TEAM") else one_serving)(url, home, environment) as told:
        yield Site(url, home, told, **json.loads((home / "made.json").read_text()))


@contextmanager
def one_serving(url: str, home: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """One process on SQLite, as `make run` starts it; gives what other processes need to know."""
    for command in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
        subprocess.run([*MANAGE, *command], cwd=ROOT, env=environment, check=True)
    told = environment | {"TASKMONKEY_EXECUTOR": "manual"}
    make_ground(home, told)
    with started(["serve", "--unsupervised", "--no-link"], url, home, environment, signal.SIGKILL):
        yield told


@contextmanager
def team_serving(url: str, home: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Web processes and workers on PostgreSQL and Redis, as `make team` starts them; gives what others need to know."""
    for above in (home, *home.parents):
        if above != Path("/") and above.stat().st_uid == os.geteuid():
            above.chmod(above.stat().st_mode | 0o011)
    with started(["team", "--no-link"], url, home, environment, signal.SIGTERM):
        left = dict(line.removeprefix("export ").split("=", 1) for line in (home / "team.env").read_text().splitlines())
        told = environment | {name: shlex.split(value)[0] for name, value in left.items()} | {"TASKMONKEY_EXECUTOR": "manual"}
        make_ground(home, told)
        yield told


@contextmanager
def started(command: list[str], url: str, home: Path, environment: dict[str, str], end: signal.Signals) -> Iterator[None]:
    with (home / "server.log").open("w") as log:
        serving = [*MANAGE, *command, f"--port={url.rpartition(':')[2]}"]
        process = subprocess.Popen(serving, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        await_answer(f"{url}/healthz", process)
        yield
    finally:
        process.send_signal(end)
        process.wait()


def make_ground(home: Path, environment: dict[str, str]) -> None:
    """Whom and what the journeys need."""
    making = [sys.executable, "-m", "tests.browser.ground", str(home / "made.json")]
    subprocess.run(making, cwd=ROOT, env=environment, check=True)


def own_environment(home: Path) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "taskmonkey.settings",
        "TASKMONKEY_HOME": str(home),
        "TASKMONKEY_MODEL": "builtin",
        "TASKMONKEY_EXECUTOR": "inprocess",
        "TASKMONKEY_SCRIPTS": str(home / "scripts"),
        "TASKMONKEY_SQLITE_SYNCHRONOUS": "OFF",
        "TASKMONKEY_SECRET_KEY": "only-for-tests",
    }


def await_answer(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Visit]]:
    """Opens windows: `visit("alice", width=375)`. Fails the test if a page had an error or broke the security policy."""
    visits: list[Visit] = []

    def open_window(who: str = "alice", *, width: int = 1280, height: int = 800, **options: Any) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE)
        if who:
            context.add_cookies([{"name": "sessionid", "value": site.sessions[who], "url": site.url}])
        opened = Visit(context.new_page(), context, site)
        watch(opened.page, opened.complaints)
        visits.append(opened)
        return opened

    yield open_window
    complaints = [complaint for each in visits for complaint in each.complaints]
    for each in visits:
        each.context.close()
    assert complaints == []


def watch(page: Page, complaints: list[str]) -> None:
    """Notes errors of scripts and refusals of the content security policy; lost connections are part of some tests."""
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type == "error" and not is_network(said.text) else None,
    )


def is_network(text: str) -> bool:
    return bool(
        re.search(
            r"Failed to load resource|WebSocket connection|ERR_|Response Status Error|htmx:(afterRequest|sendError)", text
        )
    )
