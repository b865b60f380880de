"""What was seen live equals what is seen after a reload: an old page and its events make the fresh page (D6, P4)."""

import os
from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import Visit, see_all_news

PARTS = ("log", "state", "heading", "panel", "threads")

# What may differ: tokens of forms, marks of htmx, what a reader folded out, clocks, and how a reply grew block by block.
PICTURE = """(id) => {
  const copy = document.getElementById(id).cloneNode(true);
  copy.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((each) => each.remove());
  copy.querySelectorAll("[data-b]").forEach((each) => each.replaceWith(...each.childNodes));
  copy.querySelectorAll("details").forEach((each) => each.removeAttribute("open"));
  copy.querySelectorAll(".clock").forEach((each) => (each.textContent = ""));
  copy.querySelectorAll("rect").forEach((each) => { each.removeAttribute("x"); each.removeAttribute("width"); });
  copy.querySelectorAll("[class]").forEach((each) => {
    each.classList.remove("htmx-request", "htmx-added", "htmx-settling");
    if (!each.classList.length) each.removeAttribute("class");
  });
  return copy.outerHTML.replace(/\\s+/g, " ").replace(/> </g, "><").replace(/ >/g, ">");
}"""


def picture(page: Page) -> dict[str, str]:
    return {part: page.evaluate(PICTURE, part) for part in PARTS}


def differences(live: dict[str, str], reloaded: dict[str, str], parts: Sequence[str] = PARTS) -> dict[str, tuple[str, str]]:
    """Where the pictures part, with a few words around it."""
    found = {}
    for part in parts:
        if live[part] != reloaded[part]:
            at = len(os.path.commonprefix([live[part], reloaded[part]]))
            found[part] = (live[part][max(at - 80, 0) : at + 160], reloaded[part][max(at - 80, 0) : at + 160])
    return found


def one_message(window: Visit) -> None:
    window.send("Hello again")


def a_tool(window: Visit) -> None:
    window.send("what time is it?")


def prose_of_every_kind(window: Visit) -> None:
    window.send("showcase")


def a_question_and_its_answer(window: Visit) -> None:
    window.send("ask me")
    window.page.click("form.question[data-version=open] label >> nth=1")
    window.page.click("form.question[data-version=open] .btn.primary")
    expect(window.page.locator("form.question[data-version=answered]")).to_have_count(1)
    expect(window.page.locator("#log")).to_contain_text("Then I look at units")


def two_sub_chats(window: Visit) -> None:
    window.send("delegate this")
    expect(window.page.locator("#log")).to_contain_text("Stock counted")


def a_child_that_asks(window: Visit) -> None:
    window.send("let a child ask")
    window.page.fill(".sub.waiting form.question [name=text]", "my answer to all: units")
    window.page.click(".sub.waiting form.question .btn.primary")
    expect(window.page.locator("#log")).to_contain_text("The supplier is known")


def a_child_that_is_stopped(window: Visit) -> None:
    window.send("slow child")
    window.page.click(".sub.running button:has-text('Stop')")
    expect(window.page.locator("#log")).to_contain_text("Read.")


def a_failure_tried_again(window: Visit) -> None:
    window.send("fail")
    window.page.click(".note.failed:last-child button")
    window.page.wait_for_timeout(300)
    expect(window.page.locator(".note.failed:last-child button")).to_be_visible()


def a_stop_in_the_middle(window: Visit) -> None:
    window.send("tell for ever")
    expect(window.page.locator("#log")).to_contain_text("Paragraph 3 ")
    window.page.click("#composer .stop")


def a_queue(window: Visit) -> None:
    window.send("wait for others")
    window.page.wait_for_selector("#stop", state="attached")
    window.send("queued one")
    window.send("queued two")
    expect(window.page.locator(".queued")).to_have_count(2)
    expect(window.page.locator("#log")).to_contain_text("You said: queued two")


def a_steering_message(window: Visit) -> None:
    window.send("look slowly")
    expect(window.page.locator("#log")).to_contain_text("word by word")
    window.page.fill("#text", "mind the gap")
    window.page.press("#text", "Control+Enter")
    expect(window.page.locator(".queued")).to_contain_text("will be read at the next step")
    expect(window.page.locator("#log")).to_contain_text("You said: mind the gap")
    expect(window.page.locator(".queued")).to_have_count(0)


def a_queued_message_that_steers_after_all(window: Visit) -> None:
    window.send("look slowly")
    expect(window.page.locator("#log")).to_contain_text("word by word")
    window.send("mind the gap")
    window.page.click(".queued button:has-text('Steer')")
    expect(window.page.locator("#log")).to_contain_text("You said: mind the gap")


def an_interrupt(window: Visit) -> None:
    window.send("tell for ever")
    expect(window.page.locator("#log")).to_contain_text("Paragraph 3 ")
    window.page.fill("#text", "rather this")
    window.page.click("#composer [value=interrupt]")
    expect(window.page.locator("#log")).to_contain_text("You said: rather this")
    expect(window.page.locator("#log .cut-off")).to_have_count(1)
    window.page.fill("#text", "and a third")
    window.page.press("#text", "Enter")
    expect(window.page.locator("#log")).to_contain_text("You said: and a third")


def another_wording(window: Visit) -> None:
    window.page.hover("#log .user >> nth=0")
    window.page.click("#log .user [data-act=edit] >> nth=0")
    window.page.fill(".edit textarea", "Worded anew")
    window.page.press(".edit textarea", "Enter")
    expect(window.page.locator("#log")).to_contain_text("You said: Worded anew")


def the_earlier_wording(window: Visit) -> None:
    another_wording(window)
    window.at_rest()
    window.page.click(".siblings button >> nth=0")
    expect(window.page.locator("#log")).to_contain_text("You said: First words")


def answered_again(window: Visit) -> None:
    window.page.click("#log .again:visible")
    expect(window.page.locator("#log .siblings")).to_contain_text("2/2")


def a_new_name(window: Visit) -> None:
    window.page.click("#heading .menu summary.icon-btn")
    window.page.fill("#heading [name=title]", "A better name")
    window.page.press("#heading [name=title]", "Enter")
    expect(window.page.locator("#heading h1")).to_have_text("A better name")
    expect(window.page.locator("#threads [aria-current]")).to_contain_text("A better name")


JOURNEYS = [
    one_message, a_tool, prose_of_every_kind, a_question_and_its_answer, two_sub_chats, a_child_that_asks,
    a_child_that_is_stopped, a_failure_tried_again, a_stop_in_the_middle, a_queue, a_steering_message,
    a_queued_message_that_steers_after_all, an_interrupt, another_wording, the_earlier_wording,
    answered_again, a_new_name,
]  # fmt: skip


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.__name__)
def test_report_p4_what_was_seen_live_is_what_a_reload_shows(visit: Callable[..., Visit], journey: Callable[[Visit], None]):
    window = visit()
    page = window.start_chat("First words")
    window.at_rest()
    journey(window)
    window.at_rest()
    window.see_the_panel_out()

    live = picture(page)
    page.reload()
    window.at_rest()
    reloaded = picture(page)

    assert differences(live, reloaded) == {}


def test_a_second_tab_shows_the_same_as_the_one_that_wrote(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("First words")
    window.at_rest()
    other = window.context.new_page()
    other.goto(page.url)

    window.send("delegate this")
    for each in (page, other):
        expect(each.locator("#log")).to_contain_text("Stock counted")
        each.wait_for_selector("#state[data-state=idle]", state="attached")
        see_all_news(each)
    window.see_the_panel_out()

    assert differences(picture(page), picture(other)) == {}


def test_a_tab_that_gets_no_display_frames_shows_all_the_same(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("First words")
    window.at_rest()
    # As of a tab that goes into the background: what it has asked for never comes.
    page.evaluate("window.requestAnimationFrame = () => 0")

    window.send("flood")

    window.at_rest()
    live = picture(page)
    page.reload()
    assert differences(live, picture(page), parts=("log", "state")) == {}


def test_report_s1_a_reload_in_the_middle_of_a_reply_loses_and_repeats_nothing(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("tell slowly")
    expect(page.locator("#log")).to_contain_text("Paragraph 5 ")

    page.reload()
    expect(page.locator("#log .reply").last).to_contain_text("Paragraph 5 ")
    window.at_rest()

    numbers = page.eval_on_selector_all(
        "#log .reply .body p", "all => all.map((each) => Number(each.textContent.split(' ')[1]))"
    )
    assert numbers == list(range(1, 61))


def test_report_s21_a_cut_socket_misses_nothing(visit: Callable[..., Visit]):
    window, other = visit(), visit()
    cable = Cable()
    window.page.route_web_socket("**/ws/**", cable.relay)
    page = window.start_chat("First words")
    window.at_rest()
    other.page.goto(page.url)

    cable.cut()
    window.context.set_offline(True)
    other.send("delegate this")
    expect(other.page.locator("#log")).to_contain_text("Stock counted")
    expect(page.locator("#connection")).to_contain_text("No connection", timeout=8000)
    window.context.set_offline(False)
    cable.mend()
    expect(page.locator("#log")).to_contain_text("Stock counted", timeout=15_000)
    expect(page.locator("#connection")).to_be_hidden(timeout=15_000)
    window.at_rest()
    other.at_rest()
    other.see_the_panel_out()

    assert differences(picture(page), picture(other.page)) == {}


def test_a_server_that_takes_questions_and_does_not_answer_is_told_as_no_connection(visit: Callable[..., Visit]):
    window, other = visit(), visit()
    cable, held = Cable(), []
    window.page.route_web_socket("**/ws/**", cable.relay)
    page = window.start_chat("First words")
    window.at_rest()
    other.page.goto(page.url)

    page.route("**/events/**", lambda route: held.append(route))
    cable.cut()
    expect(page.locator("#connection")).to_contain_text("No connection")
    page.wait_for_timeout(6500)
    assert len(held) == 1
    other.send("Second words")
    held[0].continue_()
    page.unroute("**/events/**")

    expect(page.locator("#log")).to_contain_text("You said: Second words")
    expect(page.locator("#connection")).to_contain_text("Live updates are blocked")
    cable.mend()
    expect(page.locator("#connection")).to_be_hidden(timeout=20_000)


class Cable:
    """What lies between a page's sockets and the server."""

    def __init__(self) -> None:
        self.whole = True
        self.sockets: list[WebSocketRoute] = []

    def relay(self, socket: WebSocketRoute) -> None:
        if self.whole:
            socket.connect_to_server()
            self.sockets.append(socket)
        else:
            socket.close(code=1011)

    def cut(self) -> None:
        self.whole = False
        for socket in self.sockets:
            socket.close(code=1011)

    def mend(self) -> None:
        self.whole = True


def test_blocked_sockets_are_replaced_by_asking(visit: Callable[..., Visit]):
    window = visit()
    window.page.add_init_script(
        "window.WebSocket = class { constructor() { setTimeout(() => this.onclose?.({code: 1006}), 50); } }"
    )
    page = window.start_chat("First words")

    expect(page.locator("#connection")).to_contain_text("every two seconds", timeout=8000)
    window.send("delegate this")

    expect(page.locator("#log")).to_contain_text("Stock counted", timeout=8000)
