"""Report X8: a very long conversation opens at its end, quickly, and gives what is older on demand."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.kit.browsers import signed_in
from tests.kit.long_thread import long_thread
from tests.kit.page import Page, read
from tests.kit.words import url


def test_a_page_of_two_hundred_messages_costs_at_most_25_queries(ground):
    thread = long_thread(ground, 200)
    for _ in range(30):
        long_thread(ground, 2)
    browser = signed_in(ground.alice)
    browser.get(url("thread", thread))

    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url("thread", thread)).status_code == 200

    assert len(queries) <= 25, "\n".join(query["sql"][:160] for query in queries)


@pytest.mark.parametrize("name", ["home", "inbox", "search"])
def test_other_pages_cost_no_more_with_many_conversations(ground, name):
    browser = signed_in(ground.alice)
    path = {"home": "/", "inbox": "/inbox/", "search": "/search/?q=question"}[name]

    counts = []
    for _ in range(2):
        for _ in range(15):
            long_thread(ground, 2)
        with CaptureQueriesContext(connection) as queries:
            browser.get(path)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 20


def test_report_x8_a_thousand_messages_open_fast_at_the_end(ground):
    thread = long_thread(ground, 1000)
    browser = signed_in(ground.alice)
    browser.get(url("thread", long_thread(ground, 2)))

    started = time.process_time()
    page = Page(browser, thread)

    assert time.process_time() - started < 1
    texts = page.texts()
    assert len(texts) == 40 and texts[0] == "Question 480" and texts[-2] == "Question 499"


def test_report_x8_older_messages_come_on_demand_until_there_are_none(ground):
    thread = long_thread(ground, 250)
    browser = signed_in(ground.alice)
    page = Page(browser, thread)
    seen, more = len(page.texts()), page.root.find(id="older")

    while more:
        way = more.elements()[0].attributes["hx-get"]
        stretch = read(browser.get(way).content.decode())
        articles = [each for each in stretch.elements() if each.name == "article"]
        assert articles[-1].attributes["data-order"] < page.at("log").find(_class="user").attributes["data-order"]
        seen, more = seen + len(articles), stretch.find(id="older")

    assert seen == 250 and articles[0].id == "m1"


def test_report_x8_without_scripts_the_way_to_older_messages_is_a_link(ground):
    thread = long_thread(ground, 250)
    browser = signed_in(ground.alice)
    link = Page(browser, thread).at("older").elements()[0].attributes["href"]

    excerpt = browser.get(link).content.decode()

    assert 'id="m210"' in excerpt and "Newer messages" in excerpt and "Older messages" in excerpt


@pytest.mark.parametrize("before", ["", "x", "-1", "9" * 30])
def test_an_odd_number_finds_no_older_messages(ground, before):
    thread = long_thread(ground, 2)

    assert signed_in(ground.alice).get(url("thread_older", thread), {"before": before}).status_code == 404


@pytest.mark.parametrize("at", ["", "x", "-1", "9" * 30, "77"])
def test_an_odd_place_opens_the_conversation_as_it_is(ground, at):
    thread = long_thread(ground, 2)

    page = signed_in(ground.alice).get(url("thread", thread), {"at": at}).content.decode()

    assert 'id="log"' in page and "Question 0" in page
