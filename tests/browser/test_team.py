"""A team at work, as a person sees it: plan, lanes, hand-back, cut, table, approval; live, after a reload, in both themes."""

import os
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_everyone import open_everything, violations
from tests.browser.test_live_equals_reload import differences, picture


def keep_picture(page: Page, name: str) -> None:
    """Writes what is seen into the folder that PICTURES names, if it does, for people to look at."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder, f"{name}.png"), full_page=True, caret="initial")


def ask_the_team(window: Visit) -> Page:
    """A new conversation with the assistant that plans and has several work at once."""
    page = window.page
    page.goto(f"{window.site.url}/")
    page.locator(".choices label", has_text="Team lead").click()
    page.fill("#text", "Why did the returns of B12345 go up?")
    page.press("#text", "Enter")
    page.wait_for_url("**/c/*/")
    return page


def test_a_team_works_in_the_open_and_a_reload_shows_the_same(visit):
    """J-02, J-11, J-18, J-20, D8, section 6, report P4: one request with everything that a team can do in it."""
    window = visit(bypass_csp=True)
    page = ask_the_team(window)

    plan = page.locator("#log .plan-card")
    expect(plan).to_contain_text("Team lead asks you to approve this plan")
    expect(page.locator(".fan-out")).to_have_count(0)
    keep_picture(page, "1-plan")
    plan.get_by_role("button", name="Approve this plan").click()

    expect(page.locator(".fan-out .sub[data-state=running]")).to_have_count(4)
    keep_picture(page, "2-lanes")
    expect(page.locator(".fan-out .sub[data-state=handed_back]")).to_contain_text("Which carrier shipped B12345?")
    cut = page.locator(".fan-out .sub[data-state=cut_off]")
    expect(cut).to_contain_text("Complaint")
    expect(cut.get_by_role("button", name="Run again")).to_be_visible()

    asked = page.locator("#log .approval:not(.plan-card)")
    expect(asked).to_contain_text("Team lead asks: may it send this mail?")
    expect(page.locator("#threads")).to_contain_text("your answer")
    keep_picture(page, "3-approval")
    asked.get_by_role("button", name="Allow this once").click()
    window.at_rest()
    expect(page.locator("#log")).to_contain_text("at 39.90 euros each")
    expect(page.locator("#panel .plan-section")).to_contain_text("2 of 4")
    left_open, words = page.locator(".left-open"), page.locator("#log .reply .body:not(:empty)").last
    assert left_open.bounding_box()["x"] == words.bounding_box()["x"]

    pointer = re.search(r"tbl_[0-9a-f]{12}", page.locator("#log .kept").first.inner_html())[0]
    window.send(pointer)
    expect(page.locator("#log")).to_contain_text("Chart and file are there.")
    window.at_rest()
    window.see_the_panel_out()
    live = picture(page)

    link = page.locator("#log .kept a[download]", has_text="CSV").last.get_attribute("href")
    file = page.request.get(window.site.url + link)
    assert file.ok and "47,118" in file.text().replace(";", ",")
    page.reload()
    window.at_rest()
    assert differences(live, picture(page)) == {}

    page.locator(".chart:visible").scroll_into_view_if_needed()
    window.until("[...document.querySelectorAll('.chart')].some((each) => each.naturalWidth > 0)")
    look_at(window)
    open_everything(page)
    assert violations(page) == []


def look_at(window: Visit) -> None:
    """The finished conversation in both themes and on a narrow screen, where nothing may stick out."""
    page = window.page
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        keep_picture(page, f"4-{scheme}")
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    keep_picture(page, "5-narrow")
    page.set_viewport_size({"width": 1280, "height": 800})
