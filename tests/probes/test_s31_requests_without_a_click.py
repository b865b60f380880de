"""S31: whatever a model writes, neither the page nor the server asks another site for anything until somebody clicks."""

import re

import pytest
from django.urls import reverse

from assistants.conversations.titles import ask_for_title
from assistants.turns.threads import name_thread
from tests.kit.page import read
from tests.kit.turns import last_turn, run_all, run_jobs
from tests.outbound.small_site import SmallSite, page

CANARY = "canary-31"
WAYS = [
    "![x]({url})",
    "![x][y]\n\n[y]: {url}",
    "[![x]({url})]({url})",
    '<img src="{url}">',
    "<img srcset='{url} 1x'>",
    '<picture><source srcset="{url}"></picture>',
    '<style>@import "{url}"; body {{ background: url({url}) }}</style>',
    '<p style="background: url({url})">x</p>',
    '<link rel="stylesheet" href="{url}"><link rel="icon" href="{url}"><link rel="prefetch" href="{url}">',
    '<meta http-equiv="refresh" content="0; url={url}">',
    '<iframe src="{url}"></iframe><object data="{url}"></object><embed src="{url}">',
    '<video poster="{url}" src="{url}"></video><audio src="{url}" autoplay></audio>',
    '<svg><image href="{url}"/><use href="{url}#a"/></svg>',
    '<a href="{url}" ping="{url}">x</a>',
    '<form action="{url}"><input type="image" src="{url}"></form>',
    '<div hx-get="{url}" hx-trigger="load"></div><script src="{url}"></script>',
    "$$\\href{{{url}}}{{x}} \\includegraphics{{{url}}}$$",
    "```mermaid\ngraph TD; A[<img src='{url}'>]; click A \"{url}\"\n```",
    "```html\n<img src='{url}'>\n```",
    "<{url}> {url}",
    "![x](/login/?next={url})",
    "![x](/logout/)",
]
# What a browser follows by itself; a link is none of them.
FETCHES = re.compile(r"^(src|srcset|poster|data|background|ping|action|formaction|style|hx-\w+|data-hx-\w+|ws-connect)$")
LOADING = {
    "img",
    "picture",
    "source",
    "video",
    "audio",
    "object",
    "embed",
    "iframe",
    "link",
    "image",
    "use",
    "style",
    "meta",
    "script",
}


@pytest.fixture
def catcher():
    made = SmallSite()
    made.answers["/favicon.ico"] = page(b"x")
    yield made
    made.stop()


def elements(root):
    for child in root.elements():
        yield child
        yield from elements(child)


def asks_for(html, needle):
    """The elements that make a browser ask for an address with this in it, by itself."""
    found = []
    for each in elements(read(html)):
        inside = [name for name, value in each.attributes.items() if needle in value]
        if any(FETCHES.match(name) for name in inside) or (inside and each.name in LOADING):
            found.append(each.outline()[:200])
        if each.name == "style" and needle in each.text():
            found.append(each.outline()[:200])
    return found


@pytest.mark.parametrize("way", WAYS)
def test_s31_nothing_is_fetched_without_a_click(ground, client, catcher, way):
    url = catcher.url(f"/leak?q={CANARY}")
    text = way.format(url=url)
    ground.script([f"First words\n\n{text}\n\nlast words"])
    client.force_login(ground.alice)
    thread = ground.open(f"Tell me {text}")

    run_all()
    ask_for_title(turn=last_turn(thread))
    run_jobs()
    name_thread(thread, text)
    places = [
        reverse("thread", args=[thread.chat_id]),
        reverse("thread_older", args=[thread.chat_id]) + "?before=9",
        reverse("thread_events", args=[thread.chat_id]) + "?after=0",
        reverse("inbox"),
        reverse("home"),
        reverse("search") + f"?q={CANARY}",
    ]
    answers = [client.get(place) for place in places]
    frames = "".join(frame.get("html", "") for frame in answers[2].json()["events"])
    drawn = [answer.content.decode() for answer in answers if "text/html" in answer.headers["Content-Type"]]

    assert [found for html in [*drawn, frames] if (found := asks_for(html, CANARY))] == []
    assert catcher.connections == 0


def test_s31_the_judge_sees_what_loads_by_itself():
    assert asks_for(f'<p><img src="http://x/{CANARY}"></p>', CANARY)
    assert asks_for(f"<style>a {{ background: url(http://x/{CANARY}) }}</style>", CANARY)
    assert asks_for(f'<a href="http://x" ping="http://x/{CANARY}">x</a>', CANARY)
    assert not asks_for(f'<a href="http://x/{CANARY}">x</a>', CANARY)


def test_s31_the_browser_is_told_to_load_nothing_from_elsewhere(ground, client):
    client.force_login(ground.alice)
    thread = ground.open()

    policy = client.get(reverse("thread", args=[thread.chat_id])).headers["Content-Security-Policy"]

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if rule.strip())
    assert rules["img-src"] == "'self' data:" and rules["default-src"] == rules["connect-src"] == rules["style-src"] == "'self'"


@pytest.mark.parametrize(
    "shape", ["/login/?next={}", "/?next={}", "/logout/?next={}", "/inbox/?next={}", "/preferences/?next={}"]
)
def test_s31_no_page_of_ours_leads_on_to_another_site(ground, client, catcher, shape):
    client.force_login(ground.alice)

    for url in (catcher.url("/leak"), "//127.0.0.1/leak", "/\\127.0.0.1/leak"):
        answer = client.get(shape.format(url))
        assert "127.0.0.1" not in answer.headers.get("Location", "")

    assert catcher.connections == 0
