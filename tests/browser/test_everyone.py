"""Access for everyone: axe, keyboard, narrow windows, both themes, no motion for those who want none."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = {
    "home": lambda window: window.page.goto(window.site.url),
    "showcase": lambda window: window.page.goto(window.site.chat("showcase")),
    "cards": lambda window: window.page.goto(window.site.chat("cards")),
    "sub-chat": lambda window: open_sub_chat(window),
    "inbox": lambda window: window.page.goto(f"{window.site.url}/inbox/"),
    "search": lambda window: window.page.goto(f"{window.site.url}/search/?q=returns"),
    "missing": lambda window: window.page.goto(f"{window.site.url}/nowhere/"),
}


def open_sub_chat(window):
    window.page.goto(window.site.chat("cards"))
    window.page.click(".sub a:has-text('Open') >> nth=0")
    window.page.wait_for_url("**/c/sub_*/")


def open_everything(page):
    """Menus, folded parts and actions are looked at as well."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


def violations(page):
    """What axe finds, in the light theme and in the dark one."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found += [
            (theme, each["id"], [node["html"][:120] for node in each["nodes"]][:3])
            for each in Axe().run(page).response["violations"]
        ]
    return found


@pytest.mark.parametrize("place", PAGES)
def test_axe_finds_nothing_in_either_theme(visit, place):
    window = visit(bypass_csp=True)
    PAGES[place](window)
    open_everything(window.page)

    assert violations(window.page) == []


def test_axe_finds_nothing_on_the_sign_in_page(visit):
    window = visit("", bypass_csp=True)
    window.page.goto(f"{window.site.url}/login/")

    assert violations(window.page) == []


@pytest.mark.parametrize("place", ["home", "showcase", "cards", "sub-chat", "inbox", "search"])
def test_nothing_is_cut_off_at_375_pixels(visit, place):
    window = visit(width=375, height=667, has_touch=True, is_mobile=True)
    PAGES[place](window)
    page = window.page

    width = page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
    wide = page.evaluate(
        """() => [...document.querySelectorAll("#chat *")].filter((each) => {
          const box = each.getBoundingClientRect();
          return box.right > innerWidth + 1 && box.width > 1 && !each.closest("pre, table, .math, svg");
        }).map((each) => each.outerHTML.slice(0, 100))"""
    )

    assert width <= 375
    assert wide == []


def test_report_i3_the_composer_stays_in_sight_and_nothing_zooms(visit):
    window = visit(width=375, height=667, has_touch=True, is_mobile=True)
    window.page.goto(window.site.chat("showcase"))

    sizes = window.page.eval_on_selector_all(
        "textarea, input:not([type=hidden], [type=checkbox], [type=radio]), select",
        "all => all.map((each) => parseFloat(getComputedStyle(each).fontSize))",
    )
    box = window.page.locator("#composer").bounding_box()

    assert min(sizes) >= 16
    assert box["y"] + box["height"] <= 667


def test_the_list_and_the_panel_are_drawers_on_a_narrow_screen(visit):
    window = visit(width=375, height=667)
    page = window.page
    page.goto(window.site.chat("cards"))
    expect(page.locator("#threads")).to_be_hidden()

    page.click(".bar-start button")
    expect(page.locator("#threads")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#threads")).to_be_hidden()
    page.click(".bar-end button")

    expect(page.locator("#panel")).to_be_visible()


def test_the_keyboard_alone_reaches_and_works_everything(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()
    page.evaluate("document.activeElement.blur()")

    page.keyboard.press("Tab")
    skipped = page.evaluate("document.activeElement.className")
    page.keyboard.press("Enter")
    page.keyboard.type("typed")
    page.focus("#heading summary.icon-btn")
    page.keyboard.press("Enter")
    expect(page.locator("#heading [name=title]")).to_be_visible()
    page.keyboard.press("Escape")

    assert skipped == "skip"
    expect(page.locator("#text")).to_have_value("typed")
    expect(page.locator("#heading [name=title]")).to_be_hidden()
    assert page.evaluate("document.activeElement.matches('#heading summary')")


def test_every_stop_of_the_keyboard_shows_where_it_is(visit):
    window = visit()
    page = window.page
    page.goto(window.site.chat("cards"))

    unseen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
              const at = document.activeElement, mark = (each) => each && getComputedStyle(each).outlineStyle !== "none";
              const seen = mark(at) || mark(at.nextElementSibling) || at.matches("textarea");
              return at === document.body || seen ? "" : at.outerHTML.slice(0, 120);
            }"""
        )
        unseen += [stop] if stop else []

    assert unseen == []


def test_nothing_moves_for_those_who_want_no_motion(visit):
    window = visit(reduced_motion="reduce")
    page = window.start_chat("tell for ever")
    page.wait_for_selector("#stop", state="attached")

    moving = page.evaluate("document.getAnimations().length")
    page.click("#composer .stop")

    assert moving == 0
