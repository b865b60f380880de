"""S14: no other site makes a browser do anything here, and looking changes nothing."""

import re
from html import unescape
from itertools import product

import pytest
from django.conf import settings
from django.test import Client

from assistants.models import AuditEntry
from tests.probes.test_s01_routes import OPEN, ROUTES, admin_addresses
from tests.probes.town import record

EVIL = "https://evil.example"
LINK = re.compile(r'(?:href|src|hx-get|action|data-seen-url)="(/[^"]*)"')
MOST_PAGES = 60


def commands(place) -> list[str]:
    """Every address that takes a POST, Alice's things in it."""
    own = [route.path(place.alice.number(route.of)) for route in ROUTES.values() if route.methods == "POST"]
    opened = [
        f"/{path}".replace("<str:uid>", "x").replace("<str:token>", "y") for path, (_, how) in OPEN.items() if "POST" in how
    ]
    return own + opened


def guarded(place, who: str, **headers: str) -> Client:
    browser = Client(enforce_csrf_checks=True, headers=headers, raise_request_exception=False)
    if session := place.sessions.get(who):
        browser.cookies[settings.SESSION_COOKIE_NAME] = session
    return browser


FORGED = {
    "a form of another site": ({"Origin": EVIL}, "application/x-www-form-urlencoded"),
    "a form of no site": ({"Origin": "null"}, "application/x-www-form-urlencoded"),
    "fetch with plain text": ({"Origin": EVIL, "Sec-Fetch-Site": "cross-site"}, "text/plain"),
    "a form without an origin": ({}, "multipart/form-data; boundary=x"),
    "another port": ({"Origin": "http://testserver:81"}, "application/x-www-form-urlencoded"),
    "a request that says it is ours": ({"HX-Request": "true", "X-Requested-With": "XMLHttpRequest"}, "application/json"),
}


@pytest.mark.parametrize("forged", FORGED)
def test_s14_no_command_is_taken_without_the_pages_token(place, forged):
    before, taken = record(but=()), []
    headers, kind = FORGED[forged]

    for path in commands(place):
        answer = guarded(place, "alice", **headers).generic("POST", path, b"text=Hi&title=x&username=bob", kind)
        if answer.status_code != 403:
            taken.append((path, answer.status_code))

    assert taken == []
    assert record(but=()) == before


def test_s14_a_token_does_not_help_another_origin(place):
    before, taken = record(but=()), []
    page = guarded(place, "alice").get("/")
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]

    for path, evil in product(commands(place)[:6], (EVIL, "null", "http://testserver.evil.example")):
        browser = guarded(place, "alice", Origin=evil)
        browser.cookies[settings.CSRF_COOKIE_NAME] = page.cookies[settings.CSRF_COOKIE_NAME].value
        answer = browser.post(path, {"text": "Hi", "csrfmiddlewaretoken": token})
        if answer.status_code != 403:
            taken.append((path, evil, answer.status_code))

    assert taken == []
    assert record(but=()) == before


def test_s14_a_token_made_up_beforehand_does_not_help(place):
    before = record(but=())
    browser = guarded(place, "alice")
    page = browser.get("/")
    real = page.cookies[settings.CSRF_COOKIE_NAME].value

    answers = {
        browser.post(f"/c/{place.alice.thread.chat_id}/send/", {"text": "Hi", "csrfmiddlewaretoken": token}).status_code
        for token in ("", "x", "x" * 64, real[:-1] + ("a" if real[-1] != "a" else "b"))
    }

    assert answers == {403}
    assert record(but=()) == before


def test_s14_no_admin_page_takes_a_forged_form(place):
    before, taken = record(but=()), []

    for path in admin_addresses(place).values():
        answer = guarded(place, "root", Origin=EVIL).post(path, {"post": "yes", "_save": "1"})
        if answer.status_code not in (403, 405, 404):
            taken.append((path, answer.status_code))

    assert taken == []
    assert record(but=()) == before


@pytest.mark.parametrize("who", ["alice", "root", "visitor"])
def test_s14_following_every_link_changes_nothing(place, who):
    # A page that is refused leaves a note for the admins, and nothing else.
    browser, before = place.browser(who), record(but=(AuditEntry,))
    own = [route.path(place.alice.number(route.of)) for route in ROUTES.values() if route.methods == "GET"]
    waiting = [
        *own,
        "/",
        "/inbox/",
        "/search/?q=canary",
        "/login/",
        *(admin_addresses(place).values() if who == "root" else ()),
    ]
    seen: set[str] = set()

    while waiting and len(seen) < MOST_PAGES:
        path = waiting.pop(0)
        if path in seen or path.startswith(("/static/", "//")):
            continue
        seen.add(path)
        answer = browser.get(path)
        assert answer.status_code < 500, path
        if answer.headers["Content-Type"].startswith("text/html"):
            waiting += [unescape(found) for found in LINK.findall(answer.content.decode())]

    assert len(seen) > 10
    assert record(but=(AuditEntry,)) == before


@pytest.mark.parametrize("path", ["/", "/login/", "/c/nowhere/state/", "/healthz", "/admin/", "/search/?q=x"])
def test_s14_no_answer_may_be_read_by_another_site(place, path):
    asked = {"Origin": EVIL, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-csrftoken"}

    for method in ("OPTIONS", "GET", "POST"):
        answer = place.browser("root", **asked).generic(method, path)
        assert [name for name in answer.headers if name.lower().startswith("access-control")] == []
