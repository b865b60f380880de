"""Whoever works by keyboard alone is never thrown out of the place they were at: what took its place has the focus."""

from playwright.sync_api import Page, expect

from .test_team import ask_the_team

OPEN = "form.question[data-version=open]"


def held(page: Page) -> str:
    """What has the keyboard's focus, by its name, and what its state is."""
    return page.evaluate("(({localName, id, dataset}) => `${localName} ${id || dataset.state}`)(document.activeElement)")


def test_whoever_answers_a_question_stays_on_its_card(visit):
    window = visit()
    page = window.start_chat("ask me")
    card = page.locator(OPEN).get_attribute("id")
    page.check(f"{OPEN} [value='Supplier returns']")

    page.press(f"{OPEN} .btn.primary", "Enter")
    expect(page.locator(f"#{card}[data-version=answered]")).to_be_focused()
    window.at_rest()

    expect(page.locator(f"#{card}")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.querySelector('#log').contains(document.activeElement)")


def test_whoever_approves_a_plan_stays_on_its_card(visit):
    window = visit()
    page = ask_the_team(window)
    plan = page.locator("#log .plan-card")
    card = plan.get_attribute("id")

    plan.get_by_role("button", name="Approve this plan").press("Enter")
    expect(page.locator(".fan-out .sub[data-state=running]")).to_have_count(4)

    assert held(page) == f"article {card}"
    page.press(".stop", "Enter")
    window.at_rest()


def test_whoever_stops_an_answer_is_at_the_message_box(visit):
    window = visit()
    page = window.start_chat("tell for ever")
    expect(page.locator("#log")).to_contain_text("Paragraph 2 ")

    page.press(".stop", "Enter")
    window.at_rest()

    expect(page.locator("#text")).to_be_focused()


def test_whoever_uses_a_menu_is_at_its_button(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()

    page.press("#heading .menu:last-child > summary", "Enter")
    page.press("#heading .menu:last-child [formaction$='/pin/']", "Enter")
    expect(page.locator("#heading")).to_contain_text("pinned")

    expect(page.locator("#heading .menu:last-child > summary")).to_be_focused()
