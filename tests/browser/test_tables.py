"""A kept table in a browser: sorted in its place, drawn as an image that is shown, and the same after a reload."""

import re

from playwright.sync_api import expect


def test_a_table_is_sorted_in_its_place_and_drawn_as_a_chart(visit):
    window = visit()
    page = window.start_chat("keep a table")
    head = page.locator(".kept th", has_text="Units")
    units = page.locator(".kept tbody td:nth-child(2)")
    expect(units).to_have_text(["31", "118", "–", "9"])
    window.at_rest()

    head.locator("a").click()
    expect(units).to_have_text(["9", "31", "118", "–"])
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.locator("a").press("Enter")
    expect(units).to_have_text(["118", "31", "9", "–"])
    expect(head).to_have_attribute("aria-sort", "descending")

    pointer = re.search(r"tbl_[0-9a-f]{12}", head.locator("a").get_attribute("href"))[0]
    window.send(pointer)
    drawing = page.locator(".chart:visible")
    expect(drawing).to_have_count(1)
    window.at_rest()
    drawing.scroll_into_view_if_needed()
    window.until("[...document.querySelectorAll('.chart')].some((each) => each.naturalWidth > 0)")

    page.reload()
    expect(page.locator(".chart:visible")).to_have_count(1)
    assert window.complaints == []
