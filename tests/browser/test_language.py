"""A German page is German throughout: as it is loaded, in what comes live, and in what scripts say."""

from playwright.sync_api import expect


def test_a_german_page_is_german_at_once_and_live(visit):
    window = visit("greta", locale="de-DE")
    page = window.start_chat("Hello")
    window.at_rest()
    window.send("ask me")
    page.wait_for_selector("form.question")
    window.at_rest()

    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("form.question .btn.primary")).to_have_text("Antwort senden")
    expect(page.locator(".now .chip")).to_have_text("Ihre Antwort")
    expect(page.locator("#composer .send")).to_contain_text("Senden")
    expect(page.locator("#announce")).to_have_text("Operations lead braucht Ihre Antwort.")


def test_code_can_be_copied_in_german(visit):
    window = visit("greta", locale="de-DE")
    page = window.start_chat("Please showcase the returns")
    window.at_rest()

    expect(page.locator(".code .copy")).to_have_text("Kopieren")


def test_two_people_read_each_in_their_own_language(visit):
    german, english = visit("greta", locale="de-DE"), visit("alice", locale="en-GB")
    german.start_chat("fail")
    english.start_chat("fail")

    expect(german.page.locator(".note.failed button")).to_have_text("Noch einmal versuchen")
    expect(english.page.locator(".note.failed button")).to_have_text("Try again")


def test_the_language_and_the_theme_are_chosen_in_the_menu(visit):
    window = visit("greta", locale="de-DE")
    page = window.start_chat("Hello")
    window.at_rest()

    page.click(".account summary")
    page.check(".preferences [name=theme][value=dark]", force=True)
    page.select_option(".preferences [name=language]", "en")
    page.click(".preferences button")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.click(".account summary")
    page.check(".preferences [name=theme][value=auto]", force=True)
    page.select_option(".preferences [name=language]", "de")
    page.click(".preferences button")

    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_right_to_left_text_runs_from_right_to_left(visit):
    window = visit()
    page = window.start_chat("مرحبا بالعالم")
    window.at_rest()

    direction = page.eval_on_selector("#log .user .bubble", "bubble => getComputedStyle(bubble).direction")

    assert direction == "rtl"
