"""The first load of a chat page: few and small requests, to this site only, and nothing inline."""

import re
from urllib.parse import urlsplit


def test_the_first_load_is_small_and_stays_at_home(visit):
    window = visit()
    page, session = window.page, window.context.new_cdp_session(window.page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses, sizes = {}, {}
    session.on("Network.requestWillBeSent", lambda sent: addresses.update({sent["requestId"]: sent["request"]["url"]}))
    session.on("Network.webSocketCreated", lambda made: addresses.update({made["requestId"]: made["url"]}))
    session.on("Network.loadingFinished", lambda done: sizes.update({done["requestId"]: done["encodedDataLength"]}))

    page.goto(window.site.chat("showcase"))
    page.wait_for_timeout(1500)

    loaded = {key: url for key, url in addresses.items() if not url.startswith("data:") and not url.endswith("/seen/")}
    assert {urlsplit(url).netloc for url in loaded.values()} == {urlsplit(window.site.url).netloc}
    assert len(loaded) <= 10, sorted(loaded.values())
    assert sum(sizes.get(key, 0) for key in loaded) <= 100 * 1024


def test_nothing_is_inline_and_every_file_has_a_hashed_name(visit):
    window = visit()
    html = window.page.goto(window.site.chat("showcase")).text()

    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', html)
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert re.findall(r"<[^>]+\s(?:style|on\w+)=", html) == []
    assert [name for name in files if not re.search(r"\.[0-9a-f]{12}\.\w+$|\.min\.[0-9a-f]{12}\.js$", name)] == []


def test_modules_are_loaded_under_their_hashed_names_once(visit):
    window = visit()
    names = []
    window.page.on("request", lambda request: names.append(request.url) if request.url.endswith(".js") else None)

    window.page.goto(window.site.chat("showcase"))
    window.page.wait_for_timeout(300)

    assert len(names) == len(set(names))
    assert all(re.search(r"\.[0-9a-f]{12}\.js$", name) for name in names)
