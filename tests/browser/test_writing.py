"""The composer: keys, input methods, drafts, the queue, and refusals."""

import re

from playwright.sync_api import expect

CONFIRM = """text => text.dispatchEvent(
  new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, isComposing: true, bubbles: true }),
)"""


def compose(visit, text):
    """Types with an input method and leaves the word unconfirmed."""
    session = visit.context.new_cdp_session(visit.page)
    session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    return session


def test_enter_sends_and_shift_enter_makes_a_line(visit):
    window = visit()
    page = window.start_chat("First")
    window.at_rest()

    page.locator("#text").press_sequentially("one")
    page.press("#text", "Shift+Enter")
    page.locator("#text").press_sequentially("two")
    page.press("#text", "Enter")

    expect(page.locator("#log .user .plain").last).to_have_text("one\ntwo")
    expect(page.locator("#text")).to_have_value("")


def test_report_i1_enter_that_confirms_a_word_sends_nothing(visit):
    window = visit()
    page = window.start_chat("First")
    window.at_rest()
    page.focus("#text")

    session = compose(window, "にほん")
    page.eval_on_selector(
        "#text",
        CONFIRM,
    )
    page.wait_for_timeout(200)
    unsent = page.locator("#log .user").count()
    session.send("Input.insertText", {"text": "日本"})
    page.press("#text", "Enter")

    expect(page.locator("#log .user .plain").last).to_have_text("日本")
    assert unsent == 1


def test_report_i1_an_edit_is_not_sent_while_a_word_is_composed(visit):
    window = visit()
    page = window.start_chat("First")
    window.at_rest()
    page.hover("#log .user")
    page.click("#log .user [data-act=edit]")

    compose(window, "にほん")
    page.eval_on_selector(
        ".edit textarea",
        CONFIRM,
    )
    page.wait_for_timeout(200)

    expect(page.locator(".edit textarea")).to_be_visible()


def test_enter_makes_a_line_on_a_touch_screen(visit):
    window = visit(width=375, height=667, has_touch=True, is_mobile=True)
    page = window.page
    page.goto(window.site.chat("cards"))

    page.locator("#text").press_sequentially("one")
    page.press("#text", "Enter")
    page.locator("#text").press_sequentially("two")

    expect(page.locator("#text")).to_have_value("one\ntwo")


def test_a_draft_survives_a_reload_and_a_closed_tab(visit):
    window = visit()
    page = window.page
    page.goto(window.site.chat("showcase"))
    page.locator("#text").press_sequentially("half a thought")

    page.reload()
    expect(page.locator("#text")).to_have_value("half a thought")
    page.close()
    again = window.context.new_page()
    again.goto(window.site.chat("showcase"))

    expect(again.locator("#text")).to_have_value("half a thought")


def test_report_s12_drafts_belong_to_their_conversation_and_go_once_sent(visit):
    window = visit()
    page = window.page
    page.goto(window.site.chat("showcase"))
    page.fill("#text", "for the other one")
    window.start_chat("Hello")
    expect(page.locator("#text")).to_have_value("")

    window.send("sent")
    window.at_rest()
    page.reload()

    expect(page.locator("#text")).to_have_value("")
    page.goto(window.site.chat("showcase"))
    expect(page.locator("#text")).to_have_value("for the other one")


def test_what_cannot_be_sent_stays_and_arrives_once_when_it_is_sent_again(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()
    page.route("**/send/", lambda route: route.abort())

    window.try_to_send("keep me")
    expect(page.locator("#composer .error")).to_contain_text("could not be sent")
    expect(page.locator("#text")).to_have_value("keep me")
    page.unroute("**/send/")
    page.press("#text", "Enter")

    expect(page.locator("#log .user", has_text="keep me")).to_have_count(1)
    expect(page.locator("#composer .error")).to_be_hidden()


def test_report_s10_the_answer_that_got_lost_does_not_double_the_message(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()

    def deliver_but_lose_the_answer(route):
        route.fetch()
        route.abort()

    page.route("**/send/", deliver_but_lose_the_answer)
    window.try_to_send("only once")
    expect(page.locator("#composer .error")).to_be_visible()
    page.unroute("**/send/")
    page.press("#text", "Enter")
    expect(page.locator("#text")).to_have_value("")
    window.at_rest()

    assert page.locator("#log .user", has_text="only once").count() == 1


def test_a_refusal_is_told_beside_the_composer_and_the_text_is_kept(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()

    page.evaluate("document.getElementById('text').value = 'x'.repeat(300 * 1024)")
    page.press("#text", "Enter")

    expect(page.locator("#composer .error")).to_contain_text("longer than 256 KB")
    assert len(page.input_value("#text")) == 300 * 1024


def test_signed_out_leads_to_the_sign_in_page_and_the_draft_is_there_afterwards(visit):
    window = visit()
    page = window.start_chat("Hello")
    window.at_rest()
    window.context.clear_cookies()

    window.try_to_send("not yet")
    page.wait_for_url(re.compile(r"/login/\?next="))
    page.fill("[name=username]", "alice")
    page.fill("[name=password]", "banana-split")
    page.click("button.primary")
    page.wait_for_url("**/c/*/")

    expect(page.locator("#text")).to_have_value("not yet")


def test_while_it_works_a_message_is_queued_and_can_be_taken_back(visit):
    window = visit()
    page = window.start_chat("tell for ever")
    page.wait_for_selector("#stop", state="attached")

    window.send("and then this")
    expect(page.locator(".queued .t")).to_have_text("and then this")
    page.click("[data-unqueue]")
    expect(page.locator("#text")).to_have_value("and then this")
    expect(page.locator(".queued")).to_have_count(0)
    page.click("#composer .stop")

    expect(page.locator("#state")).to_have_attribute("data-last", "stopped")


def test_an_edit_survives_a_reload_and_what_goes_on_meanwhile_until_it_is_given_up(visit):
    window = visit()
    page = window.start_chat("First")
    window.at_rest()
    page.hover("#log .user")
    page.click("#log .user [data-act=edit]")
    page.fill(".edit textarea", "Worded anew, and")

    page.reload()
    expect(page.locator(".edit textarea")).to_have_value("Worded anew, and")
    window.send("Second")
    window.at_rest()
    expect(page.locator(".edit textarea")).to_have_value("Worded anew, and")
    page.click(".edit [data-cancel]")
    page.reload()
    window.at_rest()

    expect(page.locator("#log .user .plain")).to_have_text(["First", "Second"])
    expect(page.locator(".edit")).to_have_count(0)


def test_an_edit_that_was_begun_before_a_reload_is_sent_once(visit):
    window = visit()
    page = window.start_chat("First")
    window.at_rest()
    page.hover("#log .user")
    page.click("#log .user [data-act=edit]")
    page.fill(".edit textarea", "Worded anew")
    page.reload()

    page.press(".edit textarea", "Enter")
    expect(page.locator("#log")).to_contain_text("You said: Worded anew")
    window.at_rest()
    page.reload()

    expect(page.locator("#log .user .plain")).to_have_text(["Worded anew"])
    expect(page.locator(".edit")).to_have_count(0)
