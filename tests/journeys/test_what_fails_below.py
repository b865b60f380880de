"""Journeys 5 to 7: a made-up owner, a child that falls silent, a budget that is used up; the root answers all the same."""

import json
from datetime import timedelta

from assistants import clock
from assistants.models import SpendEntry, Turn
from assistants.turns import claims, live, partial, think, watchdog
from assistants.turns.claims import claim_turn
from tests.budget.ledger import check, spent
from tests.journeys.story import Story, call, card, invoke, lead_with, reply, words
from tests.kit.turns import last_turn, replies, run_all

FORTY = " ".join(f"word{number}" for number in range(40))


def test_journey_05_an_invented_owner_is_dropped_visibly_and_the_root_still_acts(ground):
    """J-20, J-25: the made-up name reaches nobody as an owner; the root is told to act and asks the right one."""
    back = call("hand_back", whatIsNeeded="Which carrier?", whatIEstablished="Week 46", owningAgent="parcel-wizard")
    ground.assistant("desk", tools=["hand_back"], script=[reply(back), "never"])
    ground.assistant("carrier", script=["Carrier K."])
    ground.script([reply(invoke("desk")), reply(invoke("carrier", "Which carrier in week 46?")), "It was carrier K."])
    story = Story(ground)

    page = story.rest()

    handed, asked = story.calls()
    error = json.loads(handed.result)["error"]
    assert "“parcel-wizard” does not exist and was dropped" in error and "Owner:" not in error
    assert "without a reply is not a valid way" in error
    assert "parcel-wizard" in card(page, handed) and "handed back" in card(page, handed)
    assert json.loads(asked.result)["reply"] == "Carrier K."
    assert replies(story.thread)[-1] == "It was carrier K."


def test_journey_06_a_child_that_stalls_is_cut_off_and_the_person_goes_on_with_it(ground, monkeypatch):
    """J-18, J-19: forty words, then silence: kept, marked, told to the parent, and open to the person."""
    moved, real = {"by": 0}, clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=moved["by"]))
    ground.assistant("reader", script=["never said", "Here is the rest."])
    ground.script([reply(invoke("reader")), "We know half of it."])
    story = Story(ground)
    story.one_runner()
    (child,) = story.children()
    claim = claim_turn(last_turn(child).pk, holder="test:1")
    _, message, _ = think._open_reply(claim)
    growing = live.LiveReply(child.pk, story.thread.pk, message.pk, message.sequence)
    growth = partial.begin(claim, growing, None)
    growing.on_text(FORTY)
    partial.save(older_than=0)
    partial.end(growth)

    moved["by"] = 61
    claims.renew("test:1")
    assert watchdog.watch() == 1
    page = story.rest()

    (asked,) = story.calls()
    report = json.loads(asked.result)
    assert (report["success"], report["reply"]) == (False, FORTY) and "likely incomplete" in report["error"]
    assert (last_turn(child).state, last_turn(child).reason) == (Turn.State.FAILED, "limit:idle")
    assert "cut off" in card(page, asked) and FORTY in story.told()
    assert replies(story.thread)[-1] == "We know half of it."

    answer = story.alice.post(f"/c/{child.chat_id}/send/", {"text": "And the rest?", "client_key": "k6"})
    assert answer.status_code in (200, 204, 302), answer.content
    run_all()
    assert replies(child)[0] == FORTY and last_turn(child).state == Turn.State.DONE and len(replies(child)) == 2
    assert len(story.calls()) == 1 and json.loads(story.calls()[0].result)["reply"] == FORTY


def test_journey_07_children_at_once_use_up_the_budget_and_the_root_answers_out_of_its_reserve(ground):
    """J-13, section 7, F26: one is cut, the next is refused in four parts, and the whole tree stays within the cap."""
    ground.lead.turn_tokens = 16_000
    lead_with(ground, "invoke_assistant", "ask_clarifying_question")
    long = {"text": "All that I know about returns. " * 2000, "delta_chars": 400}
    short = {"text": "They are yellow.", "usage": [10_000, 400]}
    ground.assistant("stock", script={"rules": [{"when": {"user": "colour"}, "reply": short}, {"when": {}, "reply": long}]})
    both = reply(invoke("stock", "Tell the colour"), invoke("stock", "Tell all"))
    ground.script([both, reply(invoke("stock", "Tell more")), "This is what we have. Shall I go on?"])
    story = Story(ground)

    page = story.rest()

    whole, cut, refused = story.calls()
    assert json.loads(whole.result)["success"] is True
    assert json.loads(cut.result)["error"].startswith("[BUDGET_OVERRUN]") and json.loads(cut.result)["reply"]
    assert refused.code == "BUDGET_EXHAUSTED" and len(story.children()) == 2
    for part in ("take stock", "report what is established", "name what you were about to hand over", "ask the person"):
        assert part in story.told()
    root = last_turn(story.thread)
    assert root.state == Turn.State.DONE and replies(story.thread)[-1].startswith("This is what we have.")
    assert spent(root) <= 16_000 and not SpendEntry.objects.filter(settled=None).exists()
    check(root)
    assert "cut off" in card(page, cut) and "of 16k tokens" in words(page.at("panel"))
