"""A line that is dead or stands still is told of, though nothing closes it, and so is a command that nobody has answered."""

from collections.abc import Callable

from playwright.sync_api import WebSocketRoute, expect

from .conftest import Visit

# Seconds without a word after which the page says so, and some for the machine.
SILENCE = 9 + 6
GONE = "No connection"


class Line:
    """What lies between a page's sockets and the server; while it is dead, nothing comes through and nothing is closed."""

    def __init__(self) -> None:
        self.dead = False

    def relay(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_message(lambda said: None if self.dead else socket.send(said))


def test_a_silent_line_is_told_of_and_its_next_word_takes_that_back(visit: Callable[..., Visit]):
    window, line = visit(), Line()
    window.page.route_web_socket("**/ws/**", line.relay)
    page = window.start_chat("tell for ever")
    expect(page.locator("#log")).to_contain_text("Paragraph 2 ")

    line.dead = True
    expect(page.locator("#connection")).to_contain_text(GONE, timeout=SILENCE * 1000)
    assert page.locator("#announce").inner_text().startswith(GONE)
    assert page.locator("#state .dot").evaluate("dot => getComputedStyle(dot).animationName") == "none"
    line.dead = False

    expect(page.locator("#connection")).to_be_hidden()
    page.click(".stop")
    window.at_rest()


def test_a_line_on_which_nothing_goes_on_is_not_taken_for_dead(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("First words")
    window.at_rest()
    page.evaluate(
        "new MutationObserver(() => (window.warned = true)).observe(document.getElementById('connection'), {attributes: true})"
    )

    page.wait_for_timeout(SILENCE * 1000)

    assert not page.evaluate("window.warned")


def test_a_browser_without_a_network_says_so_at_once_and_comes_back_with_it(visit: Callable[..., Visit]):
    window = visit()
    page = window.start_chat("First words")
    window.at_rest()

    window.context.set_offline(True)
    expect(page.locator("#connection")).to_contain_text(GONE, timeout=4000)
    window.context.set_offline(False)

    expect(page.locator("#connection")).to_be_hidden(timeout=4000)


def test_a_command_that_nobody_answers_shows_that_it_is_on_its_way(visit: Callable[..., Visit]):
    window, held = visit(), []
    page = window.page
    page.goto(window.site.url)

    for number, address in enumerate(("**/c/", "**/c/*/send/")):
        page.route(address, lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
        window.try_to_send(f"Words {number}")
        expect(page.locator("#connection")).to_contain_text("Sending…", timeout=4000)
        held.pop().continue_()

        # The first message leads to a page of its own, whose scripts come after its words.
        page.wait_for_url("**/c/*/")
        expect(page.locator("#log")).to_contain_text(f"You said: Words {number}")
        expect(page.locator("#connection")).to_be_hidden()
