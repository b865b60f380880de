"""S15: a session begins with its own id, is told to no script and no other site, and ends for good."""

import runpy
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from assistants.login_links import make_login_link
from assistants.models import Assistant, User
from tests.kit.browsers import PAGE

COOKIE = settings.SESSION_COOKIE_NAME


def planted() -> Client:
    """A browser that already has a session which somebody else knows."""
    browser = Client()
    browser.post("/preferences/", {"theme": "dark"})
    assert browser.cookies[COOKIE].value
    return browser


def by_password(browser: Client, user: User) -> None:
    assert browser.post("/login/", {"username": user.username, "password": "secret"}).status_code == 302


def by_link(browser: Client, user: User) -> None:
    assert browser.post(make_login_link(user)).status_code == 302


@pytest.mark.parametrize("sign_in", [by_password, by_link])
def test_s15_whoever_signs_in_gets_a_new_id(ground, sign_in):
    browser = planted()
    before = browser.cookies[COOKIE].value

    sign_in(browser, ground.alice)

    assert browser.cookies[COOKIE].value != before
    assert not Session.objects.filter(pk=before).exists()
    intruder = Client(headers=PAGE)
    intruder.cookies[COOKIE] = before
    assert intruder.get("/inbox/").status_code == 302


@pytest.mark.parametrize("sign_in", [by_password, by_link])
def test_s15_signing_in_as_somebody_else_takes_nothing_along(ground, sign_in):
    browser = Client()
    by_password(browser, ground.bob)
    browser.post("/c/", {"assistant": ground.lead.pk, "text": "Secret of Bob"})

    browser.post("/logout/")
    sign_in(browser, ground.alice)

    assert "Secret of Bob" not in browser.get("/").content.decode()


def test_s15_a_planted_id_does_not_lead_to_a_visitors_conversation(ground):
    public = ground.assistant("guide", public=True, script=["Hi"])
    browser = planted()
    known = browser.cookies[COOKIE].value

    opened = browser.post("/c/", {"assistant": public.pk, "text": "My secret"})

    assert browser.cookies[COOKIE].value != known
    intruder = Client()
    intruder.cookies[COOKIE] = known
    assert browser.get(opened["Location"]).status_code == 200
    assert intruder.get(f"{opened['Location']}state/").status_code == 401


@pytest.mark.parametrize("key", ["chosen", "0" * 32, "a" * 200, "../../etc", "%00"])
def test_s15_no_id_is_taken_from_the_browser(ground, key):
    browser = Client()
    browser.cookies[COOKIE] = key

    browser.post("/preferences/", {"theme": "dark"})

    assert browser.cookies[COOKIE].value != key
    assert not Session.objects.filter(pk=key).exists()


def test_s15_signing_out_ends_the_session_for_every_copy_of_the_cookie(ground):
    browser = Client()
    by_password(browser, ground.alice)
    copy = Client()
    copy.cookies[COOKIE] = browser.cookies[COOKIE].value
    assert copy.get("/inbox/").status_code == 200

    browser.post("/logout/")

    assert copy.get("/inbox/").status_code == 302
    assert not Session.objects.exists()


def test_s15_signing_out_in_one_browser_leaves_the_other(ground):
    one, other = Client(), Client()
    by_password(one, ground.alice)
    by_password(other, ground.alice)

    one.post("/logout/")

    assert other.get("/inbox/").status_code == 200


def test_s15_another_password_ends_every_other_session(ground):
    one = Client()
    by_password(one, ground.alice)

    ground.alice.set_password("changed")
    ground.alice.save()

    assert one.get("/inbox/").status_code == 302


def test_s15_cookies_are_kept_from_scripts_and_other_sites(ground):
    browser = Client()
    page = browser.get("/login/")
    by_password(browser, ground.alice)
    browser.post("/preferences/", {"language": "de"})
    cookies = {**page.cookies, **browser.cookies}

    flags = {name: (bool(cookie["httponly"]), cookie["samesite"], cookie["domain"]) for name, cookie in cookies.items()}

    assert set(flags) == {COOKIE, settings.CSRF_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME}
    assert set(flags.values()) == {(True, "Lax", "")}


@pytest.mark.parametrize(("https", "secure"), [("1", True), ("", False)])
def test_s15_where_the_site_is_reached_by_https_cookies_never_go_in_the_clear(monkeypatch, https, secure):
    monkeypatch.setenv("TASKMONKEY_HTTPS", https)

    read = runpy.run_path(str(settings.BASE_DIR / "taskmonkey/settings.py"))

    assert (read["SESSION_COOKIE_SECURE"], read["CSRF_COOKIE_SECURE"], read["HTTPS"]) == (secure,) * 3
    assert ("SECURE_PROXY_SSL_HEADER" in read) is secure
    assert read["DEBUG"] is False and "*" not in read["ALLOWED_HOSTS"] and "USE_X_FORWARDED_HOST" not in read


def test_s15_a_session_names_no_conversation_and_no_right(ground):
    browser = Client()
    by_password(browser, ground.alice)

    (stored,) = Session.objects.all()

    assert set(stored.get_decoded()) == {"_auth_user_id", "_auth_user_backend", "_auth_user_hash"}
    assert Assistant.objects.exists()


def changed(browser: Client, **fields: str) -> Client:
    """The browser, with other things in its session."""
    session = browser.session
    session.update(fields)
    session.save()
    return browser


def test_s15_a_session_that_began_with_djangos_own_backend_goes_on(ground):
    browser = Client(headers=PAGE)
    browser.force_login(ground.alice)

    assert changed(browser, _auth_user_backend="django.contrib.auth.backends.ModelBackend").get("/inbox/").status_code == 200
    assert changed(browser, _auth_user_backend="elsewhere.Backend").get("/inbox/").status_code == 302


@pytest.mark.parametrize("how", ["ended", "run out", "switched off", "another password", "forged", "somebody else's"])
def test_s15_a_session_lets_nobody_in_any_more(ground, how):
    browser = Client(headers=PAGE)
    browser.force_login(ground.alice)
    assert browser.get("/inbox/").status_code == 200
    stored = Session.objects.filter(pk=browser.session.session_key)

    if how == "ended":
        stored.delete()
    elif how == "run out":
        stored.update(expire_date=timezone.now() - timedelta(seconds=1))
    elif how == "switched off":
        User.objects.filter(pk=ground.alice.pk).update(is_active=False)
    elif how == "another password":
        User.objects.filter(pk=ground.alice.pk).update(password="!")
    elif how == "forged":
        stored.update(session_data="e30:1abc:def")
    else:
        changed(browser, _auth_user_id=str(ground.bob.pk))

    assert browser.get("/inbox/").status_code == 302
