"""S05: who may read a conversation sees what its owner sees, hears it live, and changes nothing."""

import re

from tests.probes.test_s01_routes import ROUTES, ask
from tests.probes.town import changes, record

WRITING = ("send_message", "rename_thread", "delete_thread", "share_thread", "edit_message", "fork_thread", "stop_turn",
           "retry_turn", "send_now", "steer", "unqueue", "answer_question", "decide_call", "send_back",
           "run_again", "approve_call", "reject_call")  # fmt: skip


def test_s05_a_reader_gets_a_403_and_nothing_changes_for_the_others(place):
    before = record()
    page = place.browser("alice").get(f"/c/{place.alice.thread.chat_id}/").content

    statuses = {ask(place, "rita", ROUTES[path], place.alice.number(ROUTES[path].of)).status_code
                for path in ROUTES if ROUTES[path].name in WRITING}  # fmt: skip

    assert statuses == {403}
    assert changes(before) == {}
    assert without_tokens(place.browser("alice").get(f"/c/{place.alice.thread.chat_id}/").content) == without_tokens(page)


def without_tokens(page: bytes) -> bytes:
    # Nor the timeline: a question is open here, and the time until its answer runs on.
    page = re.sub(rb'<section [^>]*class="timeline">.*?</section>', b"", page, flags=re.DOTALL)
    return re.sub(rb'(value="|X-CSRFToken": ")[A-Za-z0-9]{64}', b"", page)


def test_s05_a_reader_is_offered_nothing_to_change(place):
    for thread in (place.alice.thread, place.alice.child, place.alice.busy):
        page = place.browser("rita").get(f"/c/{thread.chat_id}/").content.decode()

        offered = set(re.findall(r' (?:formaction|action|hx-post)="([^"]+)"', page))
        assert {each for each in offered if not each.startswith("/question/")} <= {"/preferences/", "/logout/", "/search/"}
        assert "Send answer" not in page
        assert page.count('<fieldset class="ask"') == page.count('<fieldset class="ask" disabled')


def test_s05_what_a_reader_has_seen_does_not_count_as_seen_by_the_owner(place):
    before = record()

    answer = place.browser("rita").post(f"/c/{place.alice.thread.chat_id}/seen/", {"seq": 1})

    assert answer.status_code == 204
    assert changes(before) == {}


def test_s05_a_reader_of_the_team_opens_no_conversation(place):
    before = record()

    home = place.browser("rita").get("/")
    answer = place.browser("rita").post("/c/", {"assistant": place.ground.lead.pk, "text": "Hi"})

    assert (home.status_code, answer.status_code) == (200, 404)
    assert changes(before) == {}
