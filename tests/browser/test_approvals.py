"""A call that waits for a person, on the page: read, changed, refused, from any window and from the chat above (D8, Q15)."""

import json

import pytest
from playwright.sync_api import expect

CARD = "#log .approval"


def outbox(site):
    return sorted(path.read_text() for path in (site.home / "outbox").glob("*")) if (site.home / "outbox").exists() else []


def test_d8_a_mail_is_read_changed_and_sent_once(visit, site):
    window = visit()
    page = window.start_chat("Write a mail")
    card = page.locator(CARD)
    expect(card).to_contain_text("Operations lead asks: may it send this mail?")
    expect(card).to_contain_text("118 units of B12345 came back in week 47, after 31 in week 46.")
    expect(page.locator("#announce")).to_contain_text("needs your decision")
    expect(page.locator("#threads")).to_contain_text("your answer")
    before = len(outbox(site))

    card.locator("summary", has_text="Change it first").click()
    card.get_by_label("subject").fill("Week 47")
    card.get_by_role("button", name="Allow it like this").click()
    window.at_rest()

    expect(page.locator("#log details.call")).to_contain_text("Alice Ape changed it and allowed it once")
    assert len(outbox(site)) == before + 1 and "Subject: Week 47" in "".join(outbox(site))
    live = page.locator("#log").inner_text()
    page.reload()
    assert page.locator("#log").inner_text() == live


def test_a_page_that_opens_on_a_decision_says_so(visit):
    window = visit()
    page = window.start_chat("Write a mail")
    expect(page.locator(CARD)).to_contain_text("may it send this mail?")

    page.reload()

    expect(page.locator("#announce")).to_contain_text("needs your decision")


def test_d8_half_typed_words_stay_while_a_message_waits_behind_it(visit, site):
    window = visit()
    page = window.start_chat("Write a mail")
    card, before = page.locator(CARD), len(outbox(site))
    card.locator("summary", has_text="Don't allow it").click()
    card.locator("[name=words]").fill("Not to")

    window.send("Yes, do it")

    expect(page.locator(".queued")).to_contain_text("Yes, do it")
    expect(card.locator("[name=words]")).to_have_value("Not to")
    card.locator("[name=words]").fill("Not to me.")
    card.get_by_role("button", name="Don't allow it").click()
    window.at_rest()
    expect(page.locator("#log details.call").first).to_contain_text("Not to me.")
    assert len(outbox(site)) == before


def test_d8_half_changed_arguments_survive_a_reload_and_are_gone_once_it_is_decided(visit, site):
    window = visit()
    page = window.start_chat("Write a mail")
    # What is typed before the page follows its conversation is not kept yet.
    page.wait_for_selector("html[data-connection=open]", state="attached")
    card = page.locator(CARD)
    card.locator("summary", has_text="Change it first").click()
    card.get_by_label("subject").fill("Week 47, but")
    window.until("Object.keys(localStorage).some((key) => key.startsWith('typed:'))")

    page.reload()

    expect(card.get_by_label("subject")).to_be_visible()
    expect(card.get_by_label("subject")).to_have_value("Week 47, but")
    card.get_by_role("button", name="Allow it like this").click()
    window.at_rest()
    expect(page.locator("#log details.call")).to_contain_text("changed it and allowed it once")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('typed:'))") == []


def test_report_d8_the_chat_above_asks_for_its_sub_chat(visit, site):
    window, below = visit(width=375), visit()
    page = window.start_chat("Have a mail written")
    card = page.locator(f".sub {CARD.split()[-1]}")
    expect(card).to_contain_text("Post asks: may it send this mail?")
    below.page.goto(site.url + page.locator(".sub footer a", has_text="Watch").get_attribute("href"))
    expect(below.page.locator(CARD)).to_contain_text("Post asks: may it send this mail?")

    card.get_by_role("button", name="Allow this once").click()
    window.at_rest()

    expect(page.locator("#log")).to_contain_text("Logistics wrote.")
    expect(below.page.locator(CARD)).to_have_count(0)
    expect(below.page.locator("#log")).to_contain_text("I wrote to her.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_d8_a_refusal_of_changed_arguments_stands_beside_them(visit):
    window = visit()
    page = window.start_chat("Write a mail")
    card = page.locator(CARD)
    card.locator("summary", has_text="Change it first").click()

    card.locator("[name='argument.to']").fill("")
    card.get_by_role("button", name="Allow it like this").click()

    expect(card.locator("[role=alert]:visible")).to_contain_text("at least 1 item")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_d8_without_a_script_the_buttons_are_plain_forms(visit, site, scheme):
    window = visit()
    page = window.start_chat("Write a mail")
    expect(page.locator(CARD)).to_be_visible()
    bare = visit(java_script_enabled=False, color_scheme=scheme)
    bare.page.goto(page.url)

    bare.page.locator(CARD).get_by_role("button", name="Allow this once").click()
    window.at_rest()

    bare.page.goto(page.url)
    expect(bare.page.locator("#log")).to_contain_text("The mail is out.")
    assert json.dumps(outbox(site)).count("B12345")
