"""The context gauge: how full the window of the model was at the newest call of the present turn, in words and as a bar."""

from assistants.llm.detect import BUILTIN
from assistants.models import LLMProfile, Turn
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import last_turn, run_all


def gauge(ground, thread):
    found = Page(signed_in(ground.alice), thread).root.find(id="panel-context")
    return found and (" ".join(found.text().split()), found.find(height="6").attributes)


def talk(ground, *script, window=1000):
    LLMProfile.objects.filter(pk=ground.lead.profile_id).update(context_window=window)
    ground.script(list(script))
    thread = ground.open("How many?")
    run_all()
    return thread


def test_the_newest_call_of_a_turn_is_what_counts(ground):
    clock = {"calls": [{"name": "current_time"}], "usage": [100, 50]}
    thread = talk(ground, clock, {"text": "Noon.", "usage": [250, 5]})

    words, bar = gauge(ground, thread)

    assert "250 of 1k tokens" in words and "25 % of what it can read at once" in words
    assert (bar["width"], bar["class"]) == ("25", "leaf")


def test_a_window_that_is_almost_full_says_what_to_do(ground):
    words, bar = gauge(ground, talk(ground, {"text": "Noon.", "usage": [850, 5]}))
    assert "A new chat has room again." in words and bar["class"] == "banana"

    words, bar = gauge(ground, talk(ground, {"text": "Noon.", "usage": [2000, 5]}))
    assert "2k of 1k tokens" in words and (bar["width"], bar["class"]) == ("100", "clay")


def test_where_the_window_is_not_known_nothing_is_shown(ground):
    thread = talk(ground, {"text": "Noon.", "usage": [250, 5]}, window=0)

    assert last_turn(thread).prompt_tokens == 250 and gauge(ground, thread) is None
    assert BUILTIN.context_window == 0 and LLMProfile(provider="builtin").as_profile().context_window == 0


def test_before_the_first_answer_nothing_is_shown(ground):
    assert gauge(ground, ground.open("How many?")) is None


def test_what_the_page_shows_live_is_what_a_reload_shows(ground):
    ground.script([{"text": "Noon.", "usage": [250, 5]}])
    thread = ground.open("How many?")
    live = Page(signed_in(ground.alice), thread)
    run_all()
    live.poll()

    assert live.at("panel-context").outline() == Page(signed_in(ground.alice), thread).at("panel-context").outline()
    assert Turn.objects.get().context_window == 32_000
