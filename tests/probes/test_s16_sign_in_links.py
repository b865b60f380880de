"""S16: a sign-in link works once, for one person, for some days, and names the host that was configured."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client

from assistants import login_links
from assistants.login_links import LoginLink, make_login_link, use_link, user_of_link
from assistants.models import User
from tests.kit.browsers import PAGE


def parts(link: str) -> list[str]:
    return link.strip("/").split("/")[1:]


def enters(link: str) -> bool:
    browser = Client()
    status = browser.post(link).status_code
    assert status in (302, 410)
    return SESSION_KEY in browser.session


def test_s16_a_link_works_once(ground):
    link = make_login_link(ground.alice)

    assert [enters(link), enters(link)] == [True, False]
    assert Client().get(link).status_code == 410


def test_s16_a_link_that_is_used_within_the_second_of_another_sign_in_is_used_up_as_well(ground, monkeypatch):
    moment = datetime(2026, 1, 1, 12, 0, 0, 100_000, tzinfo=UTC)
    User.objects.filter(pk=ground.alice.pk).update(last_login=moment)
    ground.alice.refresh_from_db()
    uid, token = parts(make_login_link(ground.alice))
    monkeypatch.setattr(login_links.clock, "now", lambda: moment + timedelta(milliseconds=300))

    assert use_link(uid, token) == ground.alice

    assert user_of_link(uid, token) is None


def test_s16_of_two_at_the_same_moment_one_gets_in(ground, monkeypatch):
    uid, token = parts(make_login_link(ground.alice))
    checked = user_of_link(uid, token)
    monkeypatch.setattr(login_links, "user_of_link", lambda *_: checked)

    assert [use_link(uid, token), use_link(uid, token)] == [ground.alice, None]


def test_s16_looking_at_a_link_does_not_use_it_up(ground):
    link = make_login_link(ground.alice)

    looked = [Client().generic(method, link).status_code for method in ("GET", "GET", "HEAD", "OPTIONS")]

    assert looked[:2] == [200, 200] and SESSION_KEY not in Client().session
    assert enters(link)


def test_s16_a_link_is_one_persons_alone(ground):
    (alice, token), (bob, _) = parts(make_login_link(ground.alice)), parts(make_login_link(ground.bob))

    assert user_of_link(bob, token) is None
    assert user_of_link(alice, token) == ground.alice


@pytest.mark.parametrize("change", [
    lambda user: user.set_password("another"),
    lambda user: setattr(user, "email", "other@example.org"),
    lambda user: setattr(user, "is_active", False),
], ids=["password", "address", "switched off"])  # fmt: skip
def test_s16_a_link_ends_with_what_it_was_made_for(ground, change):
    link = make_login_link(ground.alice)
    change(ground.alice)
    ground.alice.save()

    assert not enters(link)


def test_s16_a_link_ends_when_the_person_is_deleted(ground):
    link = make_login_link(ground.bob)
    ground.bob.delete()

    assert not enters(link)


def test_s16_a_link_is_too_old_after_some_days(ground, monkeypatch, settings):
    link = make_login_link(ground.alice)
    late = datetime.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT + 2)
    monkeypatch.setattr(LoginLink, "_now", lambda self: late)

    assert not enters(link)


@pytest.mark.parametrize("token", ["", "x", "0-0", "x-y-z", "a" * 500, "%00", "-"])
def test_s16_a_made_up_link_lets_nobody_in_and_tells_nothing(ground, token):
    uid, real = parts(make_login_link(ground.alice))
    token = token or real[:-1] + ("0" if real[-1] != "0" else "1")

    answers = {Client().get(f"/enter/{who}/{token}/").status_code for who in (uid, "MTIzNDU", "x", "%F0%9F%90%92", "AA")}

    assert answers == {410}
    assert "alice" not in Client().get(f"/enter/{uid}/{token}/").content.decode().lower()


def test_s16_a_link_signs_whoever_was_signed_in_out_first(ground):
    browser = Client()
    browser.force_login(ground.bob)
    before = browser.session.session_key

    browser.post(make_login_link(ground.alice))

    assert browser.session[SESSION_KEY] == str(ground.alice.pk)
    assert browser.session.session_key != before


@pytest.mark.parametrize(
    "forged", ["evil.example", "testserver.evil.example", "evil.example:80", "testserver@evil.example", "[::1"]
)
def test_s16_a_forged_host_gets_no_page_and_no_redirect(ground, forged):
    for path in ("/", "/login/", "/admin/", "/c/x/"):
        answer = Client(headers={"Host": forged, **PAGE}).get(path)
        assert answer.status_code == 400
        assert forged not in answer.content.decode()


def test_s16_what_a_proxy_could_say_about_the_host_is_not_believed(ground):
    forged = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example", "X-Host": "evil.example"}

    for path in ("/", "/login/", "/admin/", "/c/x/"):
        answer = Client(headers={**forged, **PAGE}).get(path)
        assert "evil.example" not in answer.content.decode() + str(answer.headers)


def test_s16_a_password_is_changed_with_the_old_one_only(ground):
    User.objects.filter(pk=ground.alice.pk).update(is_staff=True)
    browser = Client()
    browser.force_login(ground.alice)
    wanted = {"new_password1": "Banana-split-9", "new_password2": "Banana-split-9"}

    for old in ({}, {"old_password": ""}, {"old_password": "wrong"}):
        assert browser.post("/admin/password_change/", {**wanted, **old}).status_code == 200

    assert User.objects.get(pk=ground.alice.pk).check_password("secret")
