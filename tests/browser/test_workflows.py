"""The rail of workflows in a real browser: ticked, taken back, run again, and the same after a reload."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_live_equals_reload import differences, picture


def test_j35_a_person_ticks_a_step_and_the_page_shows_the_same_after_a_reload(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("Please follow the workflow")
    window.at_rest()
    folder = page.locator(".rail > li:has-text('Name the folder'):has(form)")
    expect(folder).to_contain_text("outstanding")

    folder.locator("[name=note]").fill("The folder of returns")
    folder.locator("button:has-text('It is done')").click()
    expect(folder).to_contain_text("The folder of returns")
    expect(page.locator(".rail > .next:has-text('Rebuild the index'):has(form)")).to_be_visible()

    folder.locator("button:has-text('Take back')").click()
    expect(folder).to_contain_text("next")
    window.see_the_panel_out()
    live = picture(page)
    page.reload()
    window.at_rest()
    assert differences(live, picture(page)) == {}


def test_a_note_that_is_half_typed_survives_news_in_the_panel(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("Please follow the workflow")
    window.at_rest()
    note = page.locator(".rail [name=note] >> nth=0")
    note.fill("The folder of")

    window.send("Hello again")
    window.at_rest()

    expect(note).to_have_value("The folder of")


def test_a_note_in_a_panel_that_came_with_the_page_survives_what_is_drawn_afresh(visit: Callable[..., Visit]):
    """A form that came with the page holds a token that one drawn by the socket has no need for."""
    window = visit()
    page = window.start_chat("Please follow the workflow")
    window.at_rest()
    note = page.locator(".rail [name=note] >> nth=0")
    expect(note).to_be_visible()
    page.reload()
    window.at_rest()
    note.fill("The folder of")
    field = note.element_handle()

    page.locator(".rail > li:has-text('Collect the figures') summary").click()
    page.locator(".rail > li:has-text('Collect the figures') button:has-text('Run again')").click()

    expect(page.locator("#log")).to_contain_text("Once more from there.")
    window.at_rest()
    window.see_the_panel_out()
    expect(note).to_have_value("The folder of")
    assert field.evaluate("(field) => field.isConnected")


def test_a_workflow_is_run_again_from_a_step_by_a_message_of_the_person(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("Please follow the workflow")
    window.at_rest()
    figures = page.locator(".rail > li:has-text('Collect the figures'):has(details)")

    figures.locator("summary").click()
    figures.locator("button:has-text('Run again')").click()

    expect(page.locator("#log .user").last).to_contain_text("again from step 1")
    expect(page.locator("#log")).to_contain_text("Once more from there.")
    expect(page.locator("#panel .rail > li:has-text('Collect the figures')").first).to_contain_text("outstanding")
