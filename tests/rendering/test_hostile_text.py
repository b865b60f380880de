"""Hostile text stays text, whole and at every moment of its growth."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from assistants.rendering.markdown import render_markdown
from assistants.rendering.plain import render_plain
from assistants.rendering.stream import Cursor, MarkdownStream
from tests.rendering.liveness import faults
from tests.rendering.payloads import PAYLOADS

PLACES = {
    "alone": "{}",
    "in a sentence": "Look: {} there.",
    "in a list": "- one\n- {}\n",
    "in a quotation": "> {}\n",
    "in a heading": "## {}\n",
    "in a table": "| a | b |\n|---|---|\n| {} | x |\n",
    "in bold": "**{}**",
    "in code": "```html\n{}\n```\n",
    "behind a fence": "```{}\nx\n```\n",
    "in a code span": "`{}`",
    "as a link's text": "[{}](http://good.example)",
    "as a link's target": "[x]({})",
    "as a link's title": '[x](http://good.example "{}")',
    "as an image's text": "![{}](http://good.example/a.png)",
    "as a reference": "[x]\n\n[x]: {}\n",
    "as a formula": "$$\n{}\n$$\n",
    "in a formula": "\\(\\text{{{}}}\\)",
}


def test_the_payload_bank_is_big_enough_for_s18() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 120


@pytest.mark.parametrize(
    "html",
    [
        "<script>1</script>",
        "<p onclick=x>y</p>",
        "<a href='javascript:x' rel='noopener noreferrer nofollow'>x</a>",
        "<a href='http://a.example'>x</a>",
        "<p>x</div>",
        "<div class='code'>",
        "<p class='copy'>x</p>",
        "<p><button type='button' class='copy' data-copy>Copy</button></p>",
        "<!-- x -->",
        "<img src=x>",
    ],
)
def test_the_judge_sees_what_is_live(html: str) -> None:
    assert faults(html)


@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_message_shows_nothing_live_in_any_place_s18(place: str) -> None:
    shown = {payload: faults(render_markdown(PLACES[place].format(payload))) for payload in PAYLOADS}

    assert {payload: found for payload, found in shown.items() if found} == {}


def test_report_x1_markup_from_a_message_is_inert() -> None:
    for payload in PAYLOADS:
        assert faults(render_markdown(payload)) == []
        assert faults(render_plain(payload)) == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_message_is_never_live_while_it_grows_s19(payload: str) -> None:
    stream, cursor, page = MarkdownStream(), Cursor(), {}
    sizes = [number for number, _ in enumerate(payload, 1)]

    found = []
    for size in sizes:
        stream.update(payload[:size])
        frames, cursor = stream.frames(cursor)
        page |= dict(frames)
        found += [fault for _, html in frames for fault in faults(html)]

    assert found == []
    assert "".join(page[number] for number in sorted(page)) == "".join([*stream.blocks, stream.tail])


@pytest.mark.parametrize("payload", [payload for payload in PAYLOADS if "]: " not in payload])
def test_a_hostile_message_looks_the_same_live_and_reloaded_s19(payload: str) -> None:
    grown = MarkdownStream()

    for size in range(len(payload) + 1):
        grown.update(payload[:size])
        halves = MarkdownStream()
        halves.update(payload[:size])
        halves.update(payload)
        assert "".join([*halves.blocks, halves.tail]).split() == render_markdown(payload).split()

    assert "".join([*grown.blocks, grown.tail]).split() == render_markdown(payload).split()


def test_messages_are_rendered_in_many_threads_at_once() -> None:
    alone = [render_markdown(payload) for payload in PAYLOADS]

    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(render_markdown, PAYLOADS * 5))

    assert together == alone * 5


def test_all_hostile_messages_in_one_leave_the_page_whole() -> None:
    text = "\n\n".join(PAYLOADS)

    assert faults(render_markdown(text)) == []


def test_a_button_is_made_for_code_only() -> None:
    text = "\n\n".join(PAYLOADS)

    html = render_markdown(text)

    assert html.count("<button") == html.count('<div class="code">') > 0
