"""S24: every answer tells the browser to run nothing but our own files, to frame nothing and to guess no types."""

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.test import AsyncClient, Client

from assistants.login_links import make_login_link
from assistants.views import pages
from tests.kit.browsers import HTMX, PAGE

WANTED = {
    "default-src": {"'self'"}, "script-src": {"'self'"}, "style-src": {"'self'"}, "connect-src": {"'self'"},
    "object-src": {"'none'"}, "base-uri": {"'none'"}, "form-action": {"'self'"}, "frame-ancestors": {"'none'"},
    # The page's own icons are written into it; no address of another host is.
    "img-src": {"'self'", "data:"},
}  # fmt: skip


def policy(answer) -> dict[str, set[str]]:
    parts = (part.split() for part in answer.headers["Content-Security-Policy"].split(";"))
    return {name: set(values) for name, *values in parts}


def check(answer) -> None:
    assert policy(answer) == WANTED
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_s24_every_page_is_guarded(place):
    thread = f"/c/{place.alice.thread.chat_id}/"
    alice = place.browser("alice")
    parts = [thread, *(f"{thread}{part}" for part in ("?at=1", "state/", "events/?after=0", "older/?before=2"))]
    for path in (*parts, "/", "/login/", "/inbox/", "/search/?q=x", "/healthz", make_login_link(place.ground.bob)):
        check(alice.get(path))
    for path in ("/admin/", "/admin/assistants/assistant/", f"/admin/assistants/thread/{place.alice.thread.pk}/change/",
                 f"/admin/assistants/assistant/{place.ground.lead.pk}/change/", "/admin/password_change/"):  # fmt: skip
        check(place.browser("root").get(path))


def test_s24_every_refusal_is_guarded(place):
    alice = place.browser("alice", **PAGE)
    forged = Client(enforce_csrf_checks=True, headers=PAGE)
    expected = {
        alice.get("/nowhere/"): 404,
        alice.get("/c/nowhere/"): 404,
        place.browser("alice", **HTMX).get("/c/nowhere/"): 404,
        place.browser("anonymous", **PAGE).get("/c/nowhere/"): 302,
        place.browser("anonymous").get("/c/nowhere/"): 401,
        alice.get("/c/"): 405,
        alice.post(f"/c/{place.alice.thread.chat_id}/send/", {"text": ""}): 400,
        place.browser("rita", **PAGE).post(f"/c/{place.alice.thread.chat_id}/send/", {"text": "x"}): 403,
        place.browser("bob").get("/admin/"): 403,
        forged.post("/login/", {"username": "alice", "password": "secret"}): 403,
        alice.get("/enter/x/y/"): 410,
        alice.get("/", headers={"Host": "evil.example"}): 400,
        alice.post("/c/", b"x" * (2 * 1024 * 1024), "application/x-www-form-urlencoded"): 413,
        alice.get("/login"): 301,
    }
    for _ in range(11):
        last = place.browser("anonymous", **PAGE).post("/login/", {"username": "alice", "password": "x"})
    expected[last] = 429

    for answer, status in expected.items():
        assert answer.status_code == status, answer.request
        check(answer)


@pytest.mark.parametrize(("error", "status"), [(RuntimeError("canary7391"), 500), (SuspiciousOperation("canary7391"), 400)])
def test_s24_a_fault_of_ours_is_guarded_and_tells_nothing(place, monkeypatch, error, status):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(pages.fragments, "draw_sidebar", fail)

    answer = place.browser("alice", **PAGE).get("/")

    assert answer.status_code == status
    check(answer)
    for secret in ("canary7391", "Traceback", "draw_sidebar", str(settings.BASE_DIR), settings.SECRET_KEY, "Django"):
        assert secret not in answer.content.decode() + str(answer.headers)


def test_s24_files_of_ours_are_guarded_and_may_be_kept(db):
    (settings.STATIC_ROOT / "probe.css").write_text("a {}")
    try:
        answer = async_to_sync(AsyncClient().get)("/static/probe.css")
    finally:
        (settings.STATIC_ROOT / "probe.css").unlink()

    assert answer.status_code == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Type"].startswith("text/css")
    assert "private" not in answer.headers["Cache-Control"]


def test_s24_no_answer_names_the_software_that_gave_it(place):
    for path in ("/", "/login/", "/nowhere/", "/admin/"):
        names = {name.lower() for name in place.browser("root").get(path).headers}
        assert not names & {"server", "x-powered-by", "via", "x-aspnet-version", "x-runtime"}
