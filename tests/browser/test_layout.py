"""What is out of line, cut off or too small to be read: heads, notes, charts and long lists, measured."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect


def box(where: Locator) -> dict[str, float]:
    """Where an element is: x, y, width, height in pixels, and its `middle` from above."""
    found = where.bounding_box()
    return {**found, "middle": found["y"] + found["height"] / 2}


def delegated(window) -> Page:
    """A conversation with a sub-chat, opened in the sub-chat."""
    page = window.start_chat("delegate this")
    window.at_rest()
    page.locator("#log .sub .do a").first.click()
    page.wait_for_url("**/c/sub_*/")
    return page


def test_a_title_has_room_on_a_narrow_screen_while_something_goes_on(visit):
    window = visit(width=375, height=667)
    page = window.start_chat("tell for ever, week by week and warehouse by warehouse")
    expect(page.locator("#state .now")).to_be_visible()

    title, now = box(page.locator("#heading h1")), box(page.locator("#state .now"))

    assert title["width"] > 150
    assert now["y"] >= title["y"] + title["height"] and now["x"] + now["width"] < 375
    page.click(".stop")
    window.at_rest()


def test_the_head_of_a_sub_chat_is_in_line(visit):
    page = delegated(visit())
    crumbs, avatar, who = (box(page.locator(f"#heading {part}")) for part in (".crumbs a", ".avatar", ".who"))
    menu = box(page.locator("#heading .menu summary"))

    assert crumbs["x"] == avatar["x"]
    assert crumbs["y"] + crumbs["height"] <= avatar["y"]
    assert abs(who["middle"] - avatar["middle"]) < 1 and abs(who["middle"] - menu["middle"]) < 1
    last = page.locator(".crumbs li").last
    assert last.evaluate("li => getComputedStyle(li, '::after').content") == "none"


@pytest.mark.parametrize("width", [1280, 375])
def test_the_head_of_a_table_is_in_line_and_its_chart_can_be_read(visit, width):
    window = visit(width=width)
    page = window.start_chat("keep a table")
    window.at_rest()
    address = page.locator("#log .kept th a").first.get_attribute("href")
    window.send(re.search(r"tbl_[0-9a-f]{12}", address)[0])
    window.at_rest()
    chart = page.locator("#log .chart.in-light")

    assert box(chart)["width"] >= 540
    inside = chart.evaluate("chart => [chart.closest('.card').scrollWidth, chart.closest('.card').clientWidth]")
    assert inside[0] == inside[1]
    page.goto(f"{window.site.url}{address}")
    assert box(page.locator(".crumbs a"))["x"] == box(page.locator("#heading h1"))["x"]


def test_every_column_of_a_long_list_is_in_sight_beside_its_filter(visit):
    window = visit()
    page = delegated(window)

    for name in ("turn", "thread", "spendentry"):
        page.goto(f"{window.site.url}/admin/assistants/{name}/")
        results = page.locator("#changelist .results")
        assert results.evaluate("all => all.scrollWidth - all.clientWidth") == 0, name
        assert page.locator("#changelist-filter").is_visible()
