"""S10: search and every list and counter know nothing of what somebody may not read."""

import pytest

from assistants.models import ThreadShare
from tests.kit.browsers import HTMX
from tests.probes.town import CANARY, changes, record

QUERIES = [
    *(CANARY, CANARY[:4], CANARY.upper(), "canary*", f'"{CANARY}"', "title:canary", "-canary", "^canary", "42", "", " "),
    *("*", "%", "_", "%%", "NEAR(a b)", "a AND b", "c OR 1=1", '" OR "1"="1', "'; DROP TABLE assistants_thread; --", "\\"),
]
PAGES = ["/", "/inbox/", "/search/", "/?assistant=1", "/search/?q=the"]


@pytest.mark.parametrize("who", ["bob", "charlie", "root", "visitor", "anonymous"])
def test_s10_nobody_finds_what_they_may_not_read(place, who):
    before = record()
    ThreadShare.objects.filter(user=place.ground.rita).delete()
    foreign = [place.alice.thread.chat_id, place.alice.child.chat_id, place.alice.busy.chat_id]
    browser, found = place.browser(who, **HTMX), []

    for query in QUERIES:
        answer = browser.get("/search/", {"q": query})
        body = answer.content.decode()
        assert answer.status_code == 200, query
        found += [query for chat in foreign if chat in body]
        if who not in ("charlie",) and CANARY in body.replace(f'value="{query}"', ""):
            found.append(query)

    assert found == []
    assert changes(before).keys() <= {"assistants.ThreadShare"}


@pytest.mark.parametrize("who", ["bob", "root", "visitor", "anonymous"])
def test_s10_no_list_and_no_counter_tells_of_it(place, who):
    for path in PAGES:
        body = place.browser(who).get(path).content.decode()

        assert CANARY not in body, path
        assert place.alice.thread.chat_id not in body, path


def test_s10_the_owner_and_a_reader_find_it_and_a_reader_no_longer_without_the_right(place):
    def hits(who):
        return place.alice.thread.chat_id in place.browser(who, **HTMX).get("/search/", {"q": CANARY}).content.decode()

    assert hits("alice") and hits("rita")

    ThreadShare.objects.filter(user=place.ground.rita).delete()

    assert hits("alice") and not hits("rita")


def test_s10_the_inbox_of_a_reader_does_not_ask_for_the_owners_answers(place):
    assert CANARY in place.browser("alice").get("/inbox/").content.decode()
    assert place.browser("rita").get("/inbox/").content.decode().count("Nothing") >= 3
