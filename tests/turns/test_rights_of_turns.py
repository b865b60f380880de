"""A turn works only as long as its owner may have it work (S08, D7)."""

from assistants.models import Membership, Turn
from assistants.turns.sweeper import sweep
from tests.kit.turns import last_turn, replies, run_all


def test_s08_a_turn_is_not_carried_on_for_somebody_who_left_the_team(ground):
    thread = ground.open(owner=ground.bob)
    Membership.objects.filter(user=ground.bob).delete()

    run_all()

    turn = last_turn(thread)
    assert (turn.state, turn.reason) == (Turn.State.STOPPED, "no_right")
    assert replies(thread) == []


def test_s08_a_waiting_turn_ends_with_the_next_sweep(ground):
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[
        {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}
    ])  # fmt: skip
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "x"}}]}, "ok"])
    thread = ground.open(owner=ground.bob)
    run_all()
    ground.bob.is_active = False
    ground.bob.save()

    sweep()

    assert last_turn(thread).state == Turn.State.STOPPED
    assert not last_turn(thread).calls.get().is_open


def test_a_key_that_can_not_be_read_ends_the_turn_with_what_to_do(ground):
    ground.lead.profile.encrypted_key = "garbage"
    ground.lead.profile.save()
    thread = ground.open()

    run_all()

    turn = last_turn(thread)
    assert turn.reason == "PROFILE_KEY_UNREADABLE" and "Enter the key again" in turn.note


def test_a_switched_off_assistant_ends_its_waiting_turn_with_a_sentence(ground):
    thread = ground.open()
    ground.lead.enabled = False
    ground.lead.save()

    run_all()

    assert last_turn(thread).reason == "assistant_disabled"
