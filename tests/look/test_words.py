"""Words where people read: one state has one word in German too, figures agree with their nouns, names stand for slugs."""

import pytest
from django.utils import translation

from assistants.conversations.sharing import share_thread
from assistants.models import LLMProfile, Turn
from assistants.sentences import spoken
from assistants.setup.keys import key_state
from assistants.templatetags import look
from assistants.templatetags.conversations import Branch, row
from tests.kit.browsers import PAGE, signed_in
from tests.kit.page import Page, read


@pytest.fixture
def german():
    with translation.override("de"):
        yield


def test_what_was_cut_off_is_called_so_everywhere(german):
    told = [
        "It was cut off: it gave no sign of life for 60 seconds.",
        "It was cut off: it worked for longer than 9 seconds.",
        "It was cut off: the token budget of the whole request is used up.",
        "The reply was cut at its length limit.",
    ]

    assert all(str(look.TURNS["cut_off"].word) in spoken(each) for each in told)


def test_advice_names_the_admins_pages_as_they_are_called_there(german):
    advice = "An admin of the team: Admin, Document roots, the action “Re-index”; or manage.py index on the server."

    assert f"„{translation.gettext('Re-index')}“" in translation.gettext(advice)
    assert translation.gettext("document roots").capitalize() in translation.gettext(advice)


def test_the_admin_says_in_german_whether_there_is_a_key_and_who_answered(german, monkeypatch):
    monkeypatch.setenv("A_KEY", "x")

    assert key_state(LLMProfile()) == "Nicht hinterlegt."
    assert key_state(LLMProfile(key_variable="A_KEY")).startswith("Aus der Umgebungsvariablen A_KEY")
    assert Turn(profile_label="Built-in engine").model_name == "Eingebaute Antwortmaschine"
    assert Turn(profile_label="done").model_name == "done"


@pytest.mark.parametrize(("number", "words"), [(1, "1 sub-chat"), (2, "2 sub-chats")])
def test_what_is_not_listed_below_is_counted_in_words(ground, number, words):
    drawn = read(row(Branch(ground.open(), look.PLAIN, hidden=number), None))

    assert drawn.find(_class="visually-hidden").text() == words


def test_whoever_shares_is_told_what_comes_along(ground):
    thread = ground.open()

    told = "They also read its sub-chats, with all that was looked up for it in documents"
    assert told in signed_in(ground.alice, **PAGE).get(f"/c/{thread.chat_id}/").content.decode()
    share_thread(thread, username="bob", by=ground.alice)
    assert told not in signed_in(ground.bob, **PAGE).get(f"/c/{thread.chat_id}/").content.decode()


def test_whoever_only_reads_is_told_where_shared_conversations_stand(ground):
    page = signed_in(ground.rita, **PAGE).get("/").content.decode()

    assert "What others share with you stands in the list of conversations." in page


def test_whoever_shares_chooses_from_the_people_of_the_team(ground):
    thread = ground.open()

    offered = Page(signed_in(ground.alice), thread).at("colleagues").elements()
    share_thread(thread, username="bob", by=ground.alice)

    assert [each.attributes["value"] for each in offered] == ["bob", "rita"]
    assert Page(signed_in(ground.bob), thread).root.find(id="colleagues") is None
