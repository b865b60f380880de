"""S20: no link runs anything, none leads to another scheme, and every other one tells nothing about where it came from."""

from urllib.parse import urlsplit

import pytest

from assistants.models import Message
from assistants.turns.calls import add_message
from assistants.turns.threads import set_leaf
from tests.kit.page import Element, read
from tests.kit.turns import run_all
from tests.rendering.payloads import LINKS

MORE = [
    *(
        "//evil.example",
        "[x](//evil.example/a)",
        "<//evil.example>",
        "[x](\t//evil.example)",
        "http:evil.example",
        "/\\evil.example",
    ),
    *("[x](JAVASCRIPT\n:alert(1))", "[x](java\rscript:alert(1))", "[x](&#x00006A&#x000061vascript:alert(1))", "[x](data:,x)"),
    *("[x](vbs\tcript:x)", "[x](file:\\\\evil.example\\x)", "[x][1]\n\n[1]: vbscript:x", "<FILE:///etc/passwd>"),
    *(
        "ws://evil.example",
        "[x](intent://evil#Intent;end)",
        "[x](tel:1)",
        "[x](sms:1)",
        "[x](about:blank)",
        "[x](chrome://settings)",
    ),
]
TEXTS = [*LINKS, *MORE]


def links(element: Element) -> list[Element]:
    return [found for child in element.elements() for found in ([child] if child.name == "a" else []) + links(child)]


@pytest.fixture
def bodies(ground, client):
    """The texts as a model's replies and as the person's own messages, on the page."""
    thread = ground.open("Links, please")
    run_all()
    leaf = thread.messages.get(role="assistant")
    for number in range(0, len(TEXTS), 8):
        for role in (Message.Role.USER, Message.Role.ASSISTANT):
            parts = [{"type": "text", "text": "\n\nand\n\n".join(TEXTS[number : number + 8])}]
            leaf = add_message(thread.pk, role=role, parts=parts, parent=leaf)
    set_leaf(thread.pk, leaf)
    client.force_login(ground.alice)
    log = read(client.get(f"/c/{thread.chat_id}/").content.decode()).find(id="log")
    articles = [article for article in log.elements() if article.name == "article"]
    return [body for article in articles for body in (article.find(_class="body"), article.find(_class="bubble")) if body]


def test_s20_no_link_runs_or_leads_into_the_machine(bodies):
    hrefs = [link.attributes.get("href", "") for body in bodies for link in links(body)]

    assert sum(body.text().count("and") for body in bodies) >= len(TEXTS)
    assert len(hrefs) >= 10
    for href in hrefs:
        assert urlsplit(href).scheme in ("http", "https", "mailto"), href
        assert not set(href) & set("\\\t\n\r\0"), href


def test_s20_a_link_of_a_message_tells_nothing_and_gets_no_handle(bodies):
    for link in (link for body in bodies for link in links(body)):
        assert link.attributes.get("rel") == "noopener noreferrer nofollow", link.attributes
        assert set(link.attributes) <= {"href", "rel", "title", "target"}
