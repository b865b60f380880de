"""Links lead to the web or to mail, images are links, and nothing of htmx gets through."""

import re

import pytest

from assistants.rendering.markdown import render_markdown
from assistants.rendering.sanitize import sanitize_prose
from tests.rendering.liveness import faults, links
from tests.rendering.payloads import HTMX, IMAGES, LINKS


@pytest.mark.parametrize("payload", LINKS)
def test_a_link_has_a_web_or_mail_address_or_none_s20(payload: str) -> None:
    found = links(render_markdown(payload))

    assert all(re.match(r"(https?://[^/@]+(/|$)|mailto:\w)", link.get("href", "http://a.example")) for link in found)
    assert all(link["rel"] == "noopener noreferrer nofollow" for link in found)


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[a](http://b.example/c?d=e&f=g#h)", "http://b.example/c?d=e&f=g#h"),
        ("[a](HTTPS://b.example)", "HTTPS://b.example"),
        ("[a](mailto:b@c.example)", "mailto:b@c.example"),
        ("<http://b.example>", "http://b.example"),
        ("see http://b.example/c.", "http://b.example/c"),
        ("see www.b.example", "http://www.b.example"),
        ("write b@c.example", "mailto:b@c.example"),
        ("[a]\n\n[a]: http://b.example", "http://b.example"),
        ("[a](http://bücher.example/ü)", "http://xn--bcher-kva.example/%C3%BC"),
    ],
)
def test_an_ordinary_link_leads_where_it_says_s20(text: str, href: str) -> None:
    assert [link["href"] for link in links(render_markdown(text))] == [href]


@pytest.mark.parametrize(
    "text", ["[a](/logout)", "[a](#composer)", "[a](//evil.example)", "[a](http://good.example@evil.example)"]
)
def test_a_link_that_is_refused_keeps_its_text(text: str) -> None:
    assert render_markdown(text) == "<p>a</p>\n"


@pytest.mark.parametrize("payload", HTMX)
def test_nothing_of_htmx_gets_through_s21(payload: str) -> None:
    html = render_markdown(payload)

    assert faults(html) == []
    assert not re.search(r"<[^>]*\s(id|hx-|data-(?!copy)|ws-|sse-)", html)


def test_ids_and_foreign_classes_are_stripped_by_the_allowlist_too_s21() -> None:
    html = '<p id="composer" class="copy" hx-get="/x" data-hx-get="/x" style="x" onclick="x">x</p><template>y</template>'

    assert sanitize_prose(html, parts=[]) == "<p>x</p>"


def test_a_slot_cannot_be_guessed() -> None:
    html = '<div class="slot-0">0</div><span class="slot">0</span>'

    assert "ours" not in sanitize_prose(html, parts=["ours"])


@pytest.mark.parametrize("payload", IMAGES)
def test_report_x2_an_image_sends_no_request_s31(payload: str) -> None:
    html = render_markdown(payload)

    assert not re.search(r"<(img|picture|source|video|audio|object|embed|link|iframe)\b|<[^>]*\s(src|srcset|style|ping)=", html)


@pytest.mark.parametrize(
    ("text", "label", "href"),
    [
        ("![a *b*](http://c.example/d.png)", "a b", "http://c.example/d.png"),
        ("![](http://c.example/d.png)", "http://c.example/d.png", "http://c.example/d.png"),
        ("[![a](http://c.example/d.png)](http://e.example)", "a", "http://e.example"),
    ],
)
def test_an_image_is_shown_as_a_link_x2(text: str, label: str, href: str) -> None:
    html = render_markdown(text)

    assert [link["href"] for link in links(html)] == [href]
    assert f">{label}</a>" in html


def test_an_image_that_leads_nowhere_is_its_description_x2() -> None:
    assert render_markdown("![a](data:image/png;base64,AAAA)") == "<p>a</p>\n"
