"""Beside S14 and S16: nothing that is sent along leads away from this site."""

from urllib.parse import quote

import pytest
from django.test import Client

from assistants.login_links import make_login_link
from tests.kit.browsers import HTMX, PAGE

AWAY = [
    *("https://evil.example/", "//evil.example/", "///evil.example/", "////evil.example", "https:///evil.example", "//[::1]/"),
    *(
        "/\\evil.example/",
        "\\\\evil.example/",
        "http:evil.example",
        "https:evil.example",
        "\t//evil.example",
        "javascript:alert(1)",
    ),
    *(
        "//evil.example@testserver/",
        "http://testserver@evil.example/",
        "http://testserver.evil.example/",
        "http://testserver:81/",
    ),
    "data:text/html,x",
]


def is_ours(location: str) -> bool:
    return location.startswith("/") and not location.startswith(("//", "/\\")) and "\t" not in location


@pytest.mark.parametrize("away", AWAY)
def test_signing_in_and_out_leads_to_pages_of_ours_only(ground, away):
    browser, query = Client(headers=PAGE), quote(away)

    page = browser.get(f"/login/?next={query}").content.decode()
    signed_in = browser.post(f"/login/?next={query}", {"username": "alice", "password": "secret", "next": away})
    again = browser.get(f"/login/?next={query}")
    admin = browser.get(f"/admin/login/?next={query}")
    out = browser.post(f"/logout/?next={query}", {"next": away})
    by_link = browser.post(f"{make_login_link(ground.bob)}?next={query}", {"next": away})

    assert f'href="{away}' not in page
    assert signed_in["Location"] == "/"
    assert again["Location"] == "/"
    assert is_ours(admin["Location"])
    assert is_ours(out["Location"])
    assert by_link["Location"] == "/"


def test_a_page_of_ours_is_still_led_to(ground):
    answer = Client().post("/login/?next=/inbox/", {"username": "alice", "password": "secret", "next": "/inbox/"})

    assert answer["Location"] == "/inbox/"


@pytest.mark.parametrize("away", [each for each in AWAY if "\t" not in each])
def test_the_page_that_a_form_came_from_is_led_back_to_only_if_it_is_ours(ground, away):
    browser = Client(headers={**PAGE, "Referer": away})

    saved = browser.post("/preferences/", {"theme": "dark"})
    refused = browser.post("/preferences/", {"theme": "pink"})

    assert is_ours(saved["Location"])
    assert f'href="{away}' not in refused.content.decode()


@pytest.mark.parametrize("away", AWAY[:6])
def test_no_header_of_htmx_leads_away(ground, away):
    browser = Client(headers={**HTMX, "HX-Current-URL": away.strip(), "HX-Target": away.strip(), "HX-Prompt": away.strip()})
    browser.force_login(ground.alice)

    opened = browser.post(f"/c/?next={quote(away)}", {"assistant": ground.lead.pk, "text": "Hi", "next": away})
    deleted = browser.post(f"{opened['HX-Redirect']}delete/", {"next": away})

    assert opened["HX-Redirect"].startswith("/c/chat") and deleted["HX-Redirect"] == "/"
    for answer in (opened, deleted):
        assert not {name for name in answer.headers if name.startswith("HX-")} - {"HX-Redirect"}


@pytest.mark.parametrize("path", ["//evil.example/c/x/", "/c//evil.example/", "/login//evil.example", "//evil.example/login"])
def test_no_address_is_completed_to_one_that_leads_away(ground, path):
    answer = Client(headers=PAGE).get(path)

    assert answer.status_code in (301, 302, 400, 404)
    assert is_ours(answer.headers.get("Location", "/"))
