"""S18, S19, S21: no text becomes live in a real browser, wherever it is shown, while it comes and after a reload."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ROOT, Site
from tests.browser.hostile import NAMES

# Whatever of this stands on a page came from a text: our own pages have none of it.
ALIVE = """() => {
  const found = [];
  const all = [...document.querySelectorAll('*')];
  for (const each of all) {
    for (const {name, value} of each.attributes) {
      if (['on', 'hx-on', 'data-hx'].some((start) => name.startsWith(start))) found.push(`${each.tagName} ${name}`);
      if (/^\\s*(javascript|vbscript|data:text)/i.test(value) && ['href', 'src', 'action', 'formaction'].includes(name))
        found.push(`${each.tagName} ${name}=${value}`);
      if (name === 'style' && value.includes('url(')) found.push(`${each.tagName} style`);
    }
  }
  const never = 'iframe, object, embed, base, meta[http-equiv], video, audio, marquee, style, [srcdoc]';
  for (const each of document.querySelectorAll(never)) found.push(each.tagName);
  for (const each of document.scripts) if (!each.src.startsWith(location.origin)) found.push(`SCRIPT ${each.src}`);
  for (const each of document.images) if (!each.src.startsWith(location.origin)) found.push(`IMG ${each.src}`);
  for (const each of document.querySelectorAll('.body *, .bubble *'))
    if ([...each.attributes].some(({name}) => /^(hx-|ws-|id$|name$)/.test(name)))
      found.push(`in a message: ${each.outerHTML.slice(0, 120)}`);
  for (const id of ['composer', 'chat', 'log', 'state', 'heading', 'sidebar', 'threads', 'text'])
    if (document.querySelectorAll(`[id="${id}"]`).length > 1) found.push(`two #${id}`);
  return found;
}"""


@dataclass
class Watcher:
    """What a page did beside showing text."""

    page: Page
    origin: str
    dialogs: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.context.on("request", lambda request: self.note(request.url))
        self.page.on("websocket", lambda socket: self.note(socket.url.replace("ws://", "http://")))

    def note(self, url: str) -> None:
        if url.startswith(("data:", "blob:")):
            return
        if not url.startswith(self.origin + "/"):
            self.elsewhere.append(url)
        self.paths.add(urlsplit(url).path)

    def check(self, where: str) -> None:
        assert self.page.evaluate(ALIVE) == [], where
        assert self.dialogs == [] and self.elsewhere == [], where


@pytest.fixture(scope="session")
def pirates(site: Site, tmp_path_factory) -> Iterator[Site]:
    out = tmp_path_factory.mktemp("hostile") / "made.json"
    command = [sys.executable, "-m", "tests.browser.hostile", str(out), str(site.home / "scripts")]
    subprocess.run(command, cwd=ROOT, env=site.environment, check=True)
    made = json.loads(out.read_text())
    site.sessions.update(made["sessions"])
    site.chats.update(made["chats"])
    yield site


@pytest.fixture
def mallory(pirates, visit):
    window = visit("mallory")
    return window, Watcher(window.page, pirates.url)


def settle(page: Page) -> None:
    """Long enough for what runs on load, on a timer or on being seen."""
    page.wait_for_timeout(250)


def test_s18_s21_nothing_on_a_page_of_the_chat_is_alive(mallory):
    window, watcher = mallory
    page, site = window.page, window.site

    for path in (
        "/",
        f"/c/{site.chats['hostile']}/",
        f"/c/{site.chats['calls']}/",
        "/inbox/",
        "/search/?q=alert",
        "/search/?q=x",
    ):
        page.goto(site.url + path)
        page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
        settle(page)
        watcher.check(path)

    assert "/logout/" not in watcher.paths and "/x" not in watcher.paths and "/admin/" not in watcher.paths


def test_s18_a_sub_chat_with_hostile_names_is_as_quiet(mallory):
    window, watcher = mallory

    for number in range(0, len(NAMES), 9):
        window.page.goto(f"{window.site.url}/c/sub_{window.site.chats['calls']}_{number:08x}/")
        settle(window.page)
        watcher.check(NAMES[number])


def test_s18_the_search_box_shows_text_as_text(mallory):
    window, watcher = mallory
    page = window.page
    page.goto(window.site.url)

    for typed in ("script", "alert", "onerror", '"><img src=x onerror=alert(1)>'):
        page.fill("#q", typed)
        page.wait_for_timeout(500)
        watcher.check(typed)


def test_s18_the_admin_shows_text_as_text(mallory):
    window, watcher = mallory
    page, url = window.page, f"{window.site.url}/admin"
    lists = ["assistant", "llmprofile", "tenant", "domain", "thread", "turn", "user", "auditentry"]

    for path in ["/", *(f"/assistants/{name}/" for name in lists)]:
        page.goto(url + path)
        settle(page)
        watcher.check(path)
        rows = page.locator("#result_list tbody a")
        if path != "/" and rows.count():
            rows.first.click()
            settle(page)
            watcher.check(f"{path} change")


def test_s18_s19_a_hostile_reply_is_quiet_while_it_streams_and_looks_the_same_after_a_reload(mallory):
    window, watcher = mallory
    page = window.page
    page.goto(window.site.url)
    page.locator(".picker input[name=assistant]").first.check(force=True)
    page.fill("#text", "attack")
    page.press("#text", "Enter")
    page.wait_for_url("**/c/*/")

    for _ in range(20):
        watcher.check("while it streams")
        page.wait_for_timeout(100)
    window.at_rest()
    watcher.check("at rest")
    live = page.locator("#log .body").all_inner_texts()
    page.reload()
    settle(page)
    watcher.check("after a reload")

    assert "".join(live).count("alert(1)") > 50
    assert [text.split() for text in page.locator("#log .body").all_inner_texts()] == [text.split() for text in live]
    assert page.locator("#composer").get_attribute("action").endswith("/send/")


def test_s18_a_message_of_ones_own_is_shown_as_it_was_typed(mallory):
    window, watcher = mallory
    page, typed = window.page, "\n".join(NAMES[:20])
    page.goto(f"{window.site.url}/c/{window.site.chats['hostile']}/")

    window.send(typed)
    settle(page)
    watcher.check("sent")

    assert page.locator("#log .user .plain").last.inner_text().split() == typed.split()


def test_s24_another_page_can_not_frame_ours(pirates, visit):
    window = visit("mallory")
    page = window.page
    page.route(
        "**/framing/", lambda route: route.fulfill(body=f"<iframe src='{pirates.url}/'></iframe>", content_type="text/html")
    )
    page.goto(f"{pirates.url}/framing/")
    page.wait_for_timeout(400)

    frame = page.frames[1]
    assert "What shall we" not in frame.content()
    window.complaints.clear()
