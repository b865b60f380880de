"""A clarifying question on the page: ticks, words, keyboard, other devices, and no script at all (J-30)."""

from playwright.sync_api import expect

OPEN = "form.question[data-version=open]"


def test_j30_report_q4_ticks_and_words_are_all_kept_and_answered_once(visit):
    window = visit()
    page = window.start_chat("ask me")

    page.check(f"{OPEN} [value='Refund value in euros']")
    page.check(f"{OPEN} [value='Supplier returns']")
    page.fill(f"{OPEN} [name=text]", "only week 47")
    page.click(f"{OPEN} .btn.primary")
    answered = page.locator("form.question[data-version=answered]")
    expect(answered).to_contain_text("Answered by Alice Ape at")
    window.at_rest()

    assert answered.locator("input >> nth=0").is_disabled()
    assert answered.locator(":checked").evaluate_all("all => all.map((each) => each.value)") == [
        "Refund value in euros",
        "Supplier returns",
    ]
    expect(answered).to_contain_text("only week 47")
    expect(page.locator("#log .user").last).to_contain_text("only week 47")


def test_a_half_given_answer_survives_a_reload(visit):
    window = visit()
    page = window.start_chat("ask me")
    page.check(f"{OPEN} [value='Supplier returns']")
    page.fill(f"{OPEN} [name=text]", "not sure")

    page.reload()

    expect(page.locator(f"{OPEN} :checked")).to_have_value("Supplier returns")
    expect(page.locator(f"{OPEN} [name=text]")).to_have_value("not sure")


def test_report_q9_an_answer_on_one_device_closes_the_question_on_the_other(visit):
    window, other = visit(), visit()
    page = window.start_chat("ask me")
    page.wait_for_selector(OPEN)
    other.page.goto(page.url)
    other.page.check(f"{OPEN} [value='Supplier returns']")

    page.check(f"{OPEN} [value='Refund value in euros']")
    page.click(f"{OPEN} .btn.primary")

    closed = other.page.locator("form.question[data-version=answered]")
    expect(closed.locator(":checked")).to_have_value("Refund value in euros")


def test_an_empty_answer_is_refused_beside_the_question(visit):
    window = visit()
    page = window.start_chat("ask me")

    page.click(f"{OPEN} .btn.primary")

    expect(page.locator(f"{OPEN} .error")).to_contain_text("Tick an option")


def test_a_refusal_stays_beside_the_question_while_its_card_is_drawn_again(visit):
    window = visit()
    page = window.start_chat("ask me")
    page.click(f"{OPEN} .btn.primary")
    said = page.locator(f"{OPEN} .error")
    expect(said).to_contain_text("Tick an option")

    page.evaluate("""async () => {
        const { morph } = await import(document.querySelector("script[src*='thread']").src.replace(/thread[^/]*$/, "morph.js"));
        const old = document.querySelector("form.question[data-version=open]"), fresh = old.cloneNode(true);
        Object.assign(fresh.querySelector(".error"), { hidden: true, textContent: "" });
        fresh.querySelector("legend").append(" (again)");
        morph(old, fresh);
    }""")

    expect(page.locator(OPEN)).to_contain_text("(again)")
    expect(said).to_contain_text("Tick an option")


def test_a_question_is_answered_by_keyboard_alone(visit):
    window = visit()
    page = window.start_chat("ask me")
    page.wait_for_selector(OPEN)
    page.focus(f"{OPEN} [type=checkbox] >> nth=0")

    page.keyboard.press("Space")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator("form.question[data-version=answered] :checked")).to_have_value("Units sent back by customers")


def test_a_question_is_answered_without_any_script(visit):
    window = visit(java_script_enabled=False)
    page = window.page
    page.goto(window.site.chat("answered"))

    page.check(f"{OPEN} [value='Refund value in euros']")
    page.click(f"{OPEN} .btn.primary")
    page.wait_for_load_state()

    expect(page.locator("form.question[data-version=answered] :checked")).to_have_value("Refund value in euros")
    expect(page.locator("#log .user").last).to_contain_text("Refund value in euros")


def test_a_whole_conversation_is_possible_without_any_script(visit):
    window = visit(java_script_enabled=False)
    page = window.page
    page.goto(window.site.url)

    page.fill("#text", "Hello without scripts")
    page.click("#composer .send")
    page.wait_for_url("**/c/*/")
    page.wait_for_timeout(1500)
    page.click("noscript a, .banner a")

    expect(page.locator("#log .reply")).to_contain_text("You said: Hello without scripts")


def test_report_d24_a_childs_question_is_asked_and_answered_in_the_parents_chat(visit):
    window = visit()
    page = window.start_chat("let a child ask")

    card = page.locator(".sub.waiting")
    expect(card).to_contain_text("Purchasing")
    expect(card).to_contain_text("waiting for you")
    card.locator("[name=text]").fill("my answer to this: units")
    card.locator(".btn.primary").click()

    expect(page.locator(".sub.reported")).to_contain_text("Seam & Sons")
    expect(page.locator("#log")).to_contain_text("The supplier is known")


def test_a_sub_chat_is_opened_continued_and_its_new_result_sent_back(visit):
    window = visit()
    page = window.start_chat("delegate this")
    expect(page.locator("#log")).to_contain_text("Stock counted")
    window.at_rest()

    page.click(".sub.reported a:has-text('Continue')")
    page.wait_for_url("**/c/sub_*/**")
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator(".crumbs")).to_contain_text("delegate this")
    expect(page.locator(".upward")).to_contain_text("stays here until you send it back")
    window.send("And by colour?")
    page.click(".upward button")
    page.wait_for_url(lambda url: "/c/sub_" not in url)

    expect(page.locator("#log .user").last).to_contain_text("SKU B12345")
