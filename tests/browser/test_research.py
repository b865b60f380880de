"""A research in a real browser: from the question to the opened passage, and what a person says of a result (J-9)."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_everyone import open_everything, violations
from tests.browser.test_live_equals_reload import differences, picture

QUESTION = "How often is the zipper of the Tundra 45 brushed?"


def ask(window: Visit, question: str = QUESTION) -> Page:
    """A research, followed live to its end."""
    page = window.page
    page.goto(f"{window.site.url}/")
    page.locator(".choices label", has_text="Research").click()
    page.fill("#text", question)
    page.press("#text", "Enter")
    page.wait_for_url("**/c/*/")
    expect(page.locator(".results, .no-results")).to_have_count(1)
    window.at_rest()
    return page


def test_from_the_question_to_the_opened_passage_and_back(visit: Callable[..., Visit]):
    window = visit()
    page = ask(window)
    result = page.locator(".results .evidence > li").first
    card = page.locator(".sub").first
    expect(card).to_contain_text("found")
    expect(card).not_to_contain_text("originalQuery")

    page.locator(".cite").first.click()
    expect(page.locator(".evidence > li:target")).to_have_id(result.get_attribute("id"))
    assert page.evaluate("document.activeElement.id") == result.get_attribute("id")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('blockquote') !== null")
    page.keyboard.press("Enter")

    page.wait_for_url("**/evidence/*/#quote")
    quote = page.locator("#quote")
    expect(quote).to_contain_text("Brush sand out of the zipper of the Tundra 45 twice a year.")
    expect(quote).to_be_in_viewport()
    expect(page.locator(".since")).to_contain_text("Unchanged")

    page.locator(".back a").first.click()
    expect(page.locator(".evidence > li:target")).to_have_count(1)
    expect(page.locator(".evidence > li:target")).to_be_in_viewport()


def test_feedback_is_pressed_by_the_keyboard_shown_live_and_taken_back(visit: Callable[..., Visit]):
    window = visit()
    page = ask(window)
    useful = page.locator(".opinion button", has_text="Useful").first
    expect(useful).to_have_attribute("aria-pressed", "false")

    useful.press("Enter")
    expect(useful).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("document.activeElement.textContent") == useful.text_content()
    page.reload()
    expect(useful).to_have_attribute("aria-pressed", "true")
    useful.press("Enter")
    expect(useful).to_have_attribute("aria-pressed", "false")


def test_a_research_looks_the_same_live_and_reloaded(visit: Callable[..., Visit]):
    window = visit()
    page = ask(window)
    page.locator(".opinion button").first.click()
    expect(page.locator(".opinion [aria-pressed=true]")).to_have_count(1)
    window.see_the_panel_out()

    live = picture(page)
    page.reload()
    window.at_rest()

    assert differences(live, picture(page)) == {}


def test_the_explorers_page_looks_the_same_live_and_reloaded(visit: Callable[..., Visit]):
    window = visit()
    page = ask(window)
    page.locator(".sub a:has-text('Open')").first.click()
    page.wait_for_url("**/c/sub_*/")
    expect(page.locator(".handoff blockquote a")).not_to_have_count(0)
    expect(page.locator(".upward")).to_contain_text("got the quotes that stood in the documents")

    live = picture(page)
    page.reload()
    window.at_rest()

    assert differences(live, picture(page)) == {}


def test_without_scripts_feedback_is_a_form_and_leads_back_to_its_result(visit: Callable[..., Visit]):
    address = ask(visit()).url
    window = visit(java_script_enabled=False)
    page = window.page
    page.goto(address)

    page.locator(".opinion button", has_text="Not useful").first.click()

    page.wait_for_url("**/c/*/#r*")
    expect(page.locator(".opinion button", has_text="Not useful").first).to_have_attribute("aria-pressed", "true")


def test_a_research_that_finds_nothing_says_what_was_searched(visit: Callable[..., Visit]):
    window = visit()
    page = ask(window, "Quantum chromodynamics lattice?")

    expect(page.locator(".note.failed")).to_contain_text("Nothing was found in the documents that answers this.")
    expect(page.locator(".no-results")).to_contain_text("archive searched for")


def test_a_sheet_with_a_long_name_does_not_widen_the_page_of_its_quote(visit: Callable[..., Visit]):
    page = ask(visit())
    page.goto(page.locator(".results blockquote a").first.evaluate("each => each.href"))
    page.set_viewport_size({"width": 375, "height": 667})

    page.locator(".facts .btn").evaluate(
        "each => { each.lastElementChild.textContent = 'To the quote, sheet ' + 'Costs '.repeat(15) }"
    )

    assert page.locator(".facts .btn").evaluate("each => each.getBoundingClientRect().right") <= 375 - 14


@pytest.mark.parametrize("place", ["chat", "explorer", "document"])
def test_axe_finds_nothing_and_nothing_is_cut_off(visit: Callable[..., Visit], place: str):
    window = visit(bypass_csp=True)
    page = ask(window)
    target = {"chat": None, "explorer": ".sub a:has-text('Open')", "document": ".results blockquote a"}[place]
    if target:
        page.goto(page.locator(target).first.evaluate("each => each.href"))
    open_everything(page)
    assert violations(page) == []

    page.set_viewport_size({"width": 375, "height": 667})
    assert page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)") <= 375
    wide = page.evaluate(
        """() => [...document.querySelectorAll("#chat .log *")].filter((each) => {
          const box = each.getBoundingClientRect();
          return box.right > innerWidth + 1 && box.width > 1 && !each.closest("pre, table");
        }).map((each) => each.outerHTML.slice(0, 100))"""
    )
    assert wide == []
