"""S13: only a page of ours opens a socket, only with a session that lives, and it ends with the session."""

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as site
from django.contrib.sessions.models import Session
from django.utils import timezone

from assistants import open_pages
from tests.probes.sockets import HOST, closing, first, following, opening, socket

STRANGE = {
    "evil": "http://evil.example",
    "null": "null",
    "missing": None,
    "empty": "",
    "another port of this host": "http://localhost:8001",
    "no port": "http://localhost",
    "another scheme": "https://localhost:8000",
    "a name that begins alike": "http://localhost:8000.evil.example",
    "a name that ends alike": "http://evil-localhost:8000",
    "a part of ours": "http://sub.localhost:8000",
    "a user in front": "http://localhost:8000@evil.example",
    "a path behind": "http://localhost:8000/",
    "capitals": "HTTP://LOCALHOST:8000",
    "another loopback": "http://127.0.0.1:8000",
    "a file": "file://",
    "two at once": "http://localhost:8000, http://evil.example",
    "no address": "http://[",
    "a wide port": "http://localhost:99999",
}


@pytest.mark.parametrize("origin", STRANGE)
async def test_s13_another_origin_is_refused_before_the_socket_is_accepted(place, origin):
    knocking = socket(place.alice.thread.chat_id, session=place.sessions["alice"], origin=STRANGE[origin])

    assert await first(knocking) is False


@pytest.mark.parametrize("hosts", [["*"], ["localhost", "evil.example"]])
async def test_s13_a_list_of_hosts_is_no_list_of_origins(place, settings, hosts):
    settings.ALLOWED_HOSTS = hosts
    chat, session = place.alice.thread.chat_id, place.sessions["alice"]

    assert await first(socket(chat, session=session, origin="http://evil.example")) is False
    assert isinstance(await first(socket(chat, session=session)), str)


@pytest.mark.parametrize("host", ["evil.example", "localhost:8000, evil.example", "", "[::1", None])
async def test_s13_an_unknown_host_is_refused_even_if_the_origin_agrees(place, host):
    knocking = socket(place.alice.thread.chat_id, session=place.sessions["alice"], host=host, origin=f"http://{host}")

    assert await first(knocking) is False


@pytest.mark.parametrize(("trusted", "origin", "welcome"), [
    ("https://chat.example", "https://chat.example", True),
    ("https://chat.example", "http://chat.example", False),
    ("https://chat.example", "https://evil.chat.example", False),
    ("https://*.example", "https://chat.example", True),
    ("https://*.example", "https://chatexample", False),
    ("https://*.example", "http://chat.example", False),
])  # fmt: skip
async def test_s13_a_trusted_origin_may_be_another_one_as_with_forms(place, settings, trusted, origin, welcome):
    settings.CSRF_TRUSTED_ORIGINS = [trusted]
    answer = await first(socket(place.alice.thread.chat_id, session=place.sessions["alice"], origin=origin))

    assert isinstance(answer, str) is welcome


async def test_s13_behind_a_proxy_that_speaks_https_the_origin_does_too(place, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    chat, session = place.alice.thread.chat_id, place.sessions["alice"]

    plain = await first(socket(chat, session=session, x_forwarded_proto="https"))
    secure = await first(socket(chat, session=session, x_forwarded_proto="https", origin=f"https://{HOST}"))

    assert plain is False and isinstance(secure, str)


async def test_s13_an_address_that_is_no_conversation_is_refused_quietly(place):
    knocking = socket("x/y/z", session=place.sessions["alice"])

    assert await first(knocking) is False


@pytest.mark.parametrize("session", ["", "made-up", "x" * 32, "0" * 400])
async def test_s13_report_s24_a_made_up_session_opens_nothing(place, session):
    assert await first(socket(place.alice.thread.chat_id, session=session)) == 4401


def run_out(key):
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))


def sign_out(place):
    place.browser("alice").post("/logout/")


async def test_s13_a_session_that_ran_out_opens_nothing(place):
    await sync_to_async(run_out)(place.sessions["alice"])

    assert await first(socket(place.alice.thread.chat_id, session=place.sessions["alice"])) == 4401


@pytest.mark.parametrize("end", ["run out", "signed out"])
async def test_s13_a_session_that_ends_closes_its_socket(place, monkeypatch, end):
    monkeypatch.setattr(open_pages, "ACCESS_SECONDS", 0.1)
    async with opening(place.alice.thread.chat_id, session=place.sessions["alice"]) as mine:
        assert await following(mine)
        if end == "run out":
            await sync_to_async(run_out)(place.sessions["alice"])
        else:
            await sync_to_async(sign_out)(place)

        assert await closing(mine, seconds=2) == 4401


async def test_s13_the_cookie_of_another_name_opens_nothing(place):
    cookie = f"{site.SESSION_COOKIE_NAME}2={place.sessions['alice']}"

    assert await first(socket(place.alice.thread.chat_id, cookie=cookie)) == 4401
