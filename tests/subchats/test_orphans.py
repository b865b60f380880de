"""Sub-chats whose caller has ended while the word of it was lost: the sweeper puts that right (F08, I9)."""

from django.db import connection

from assistants.models import Thread, Turn
from assistants.turns import executors, lifecycle
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.subchats.fan_outs import step
from tests.subchats.test_delegation import invoke


def lose_what_waits_for_a_commit():
    """As if the process had died between a commit and what it does after it."""
    connection.run_on_commit = []
    executors.rung.clear()


def test_f08_i9_a_child_whose_callers_end_was_never_told_is_stopped_with_all_below_it(ground):
    ground.assistant("leaf", script=["leaf"])
    ground.assistant("stock", tools=["invoke_assistant"], script=[invoke("leaf"), "42"])
    ground.script([invoke(), "Done."])
    thread = ground.open()
    step()
    step()
    child = Thread.objects.get(parent=thread)
    leaf = Thread.objects.get(parent=child)
    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    lose_what_waits_for_a_commit()
    assert last_turn(child).is_active and last_turn(leaf).is_active

    sweep()
    commit_hooks()

    assert {(last_turn(each).state, last_turn(each).reason) for each in (child, leaf)} == {(Turn.State.STOPPED, "parent_ended")}


def test_i9_a_report_whose_caller_was_never_told_is_handed_in_by_the_sweeper(ground):
    ground.assistant("stock", script=["42"])
    ground.script([invoke(), "Done."])
    thread = ground.open()
    step()
    child = last_turn(Thread.objects.get(parent=thread))
    Turn.objects.filter(pk=child.pk).update(state=Turn.State.DONE)
    lose_what_waits_for_a_commit()

    sweep()
    run_all()

    assert last_turn(thread).state == Turn.State.DONE and Delegation.objects.get().returned_at


def test_a_conversation_that_goes_on_by_itself_is_no_orphan(ground):
    """What a person starts in a sub-chat whose caller has its report belongs to nobody above."""
    ground.assistant("stock", script=["42", "43"])
    ground.script([invoke(), "Done."])
    thread = ground.open()
    run_all()
    child = Thread.objects.get(parent=thread)
    lifecycle.send_message(child, author=ground.alice, text="Sure?")

    sweep()

    assert last_turn(child).is_active
    run_all()
    assert last_turn(child).state == Turn.State.DONE
