"""S12: no cache keeps what is private, and the back button after signing out shows nothing."""

from tests.kit.browsers import HTMX
from tests.probes.town import CANARY


def test_s12_every_page_of_a_person_forbids_to_be_kept(place):
    thread = place.alice.thread.chat_id
    paths = ["/", "/inbox/", "/search/?q=canary", f"/c/{thread}/", f"/c/{thread}/state/", f"/c/{thread}/events/?after=0",
             f"/c/{thread}/older/?before=3", "/login/", "/c/nowhere/", "/nowhere/"]  # fmt: skip

    for path in paths:
        kept = place.browser("alice").get(path).headers["Cache-Control"]
        assert "private" in kept and "no-store" in kept, path
    for path in ("/admin/", f"/admin/assistants/thread/{place.alice.thread.pk}/change/", "/admin/jsi18n/"):
        kept = place.browser("root").get(path).headers["Cache-Control"]
        assert "private" in kept and "no-store" in kept, path


def test_s12_after_signing_out_the_same_address_shows_nothing(place):
    browser, path = place.browser("alice"), f"/c/{place.alice.thread.chat_id}/"
    assert CANARY in browser.get(path).content.decode()

    browser.post("/logout/")

    assert CANARY not in browser.get(path).content.decode()
    assert CANARY not in browser.get(f"{path}state/").content.decode()


def test_s12_two_teams_with_the_same_titles_are_not_mixed(place):
    mine, theirs = place.alice.thread, place.charlie.thread
    assert mine.title == theirs.title

    seen = {who: place.browser(who, **HTMX).get("/search/", {"q": CANARY}).content.decode() for who in ("alice", "charlie")}

    assert mine.chat_id in seen["alice"] and theirs.chat_id not in seen["alice"]
    assert theirs.chat_id in seen["charlie"] and mine.chat_id not in seen["charlie"]
    for who, own in (("alice", mine), ("charlie", theirs)):
        page = place.browser(who).get("/").content.decode()
        assert own.chat_id in page and ({mine, theirs} - {own}).pop().chat_id not in page
