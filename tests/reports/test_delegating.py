"""Reports of the section D, and those of S, T and Q that speak of sub-chats, tool steps and waiting."""

import json

import pytest
from django.db import IntegrityError, transaction

from assistants.errors import CodedError
from assistants.llm import request
from assistants.models import Assistant, Message, Thread, ToolCall, Turn
from assistants.models.definition import definition_of
from assistants.rendering import fragments
from assistants.rendering.live_text import LiveText
from assistants.tools.invoke import as_text
from assistants.turns import events, executors, lifecycle, live, loop, questions
from assistants.turns.prompt import build_prompt
from subchats.delegation.send_back import send_back
from subchats.models import Delegation
from tests.kit.turns import commit_hooks, last_turn, replies, run_all

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which mailbox?", "options": ["in", "out"]}}]}


def invoke(assistant="stock", task="Count"):
    return {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": assistant, "task": task}}]}


def step():
    """Runs the one turn that was rung for next."""
    commit_hooks()
    loop.run_turn(executors.rung.pop(0))
    commit_hooks()


def handed_over(ground, *, script, tools=(), then="Done."):
    """A conversation whose lead has handed a task to `stock`, run to the end."""
    ground.assistant("stock", tools=list(tools), script=script)
    ground.script([invoke(), then, "And on."])
    thread = ground.open()
    run_all()
    return thread, Thread.objects.get(parent=thread)


def page(thread, person):
    return str(fragments.draw_log(fragments.viewpoint(thread, person)))


def test_report_d1_a_child_that_asked_goes_on_in_the_same_sub_chat(ground):
    thread, child = handed_over(ground, script=[ASK, "Three letters."], tools=["ask_clarifying_question"])

    questions.answer(last_turn(child).calls.get(), by=ground.alice, chosen=["in"], text="")
    run_all()

    assert Thread.objects.filter(parent=thread).count() == 1
    assert child.messages.filter(role="user").count() == 2 and replies(child)[-1] == "Three letters."


def test_report_d2_t17_a_child_that_runs_again_shows_its_new_work_in_the_same_card(ground):
    thread, child = handed_over(ground, script=["First.", "Second."])
    lifecycle.send_message(child, author=ground.alice, text="Again, please")
    run_all()

    html = page(thread, ground.alice)

    assert html.count(f'href="/c/{child.chat_id}/"') >= 1 and "Second." in html
    assert events.events_after(thread.pk, 0)[-1].kind in ("call", "turn")


def test_report_d4_a_sub_chat_shows_all_its_messages_whoever_wrote_them(ground):
    _, child = handed_over(ground, script=["From stock.", "More."])
    lifecycle.send_message(child, author=ground.alice, text="From Alice")
    run_all()

    html = page(child, ground.alice)

    assert all(text in html for text in ("Count", "From stock.", "From Alice", "More."))


def test_report_d6_the_chosen_assistant_answers_and_the_conversation_is_listed(ground):
    stock = ground.assistant("stock", script=["I am stock."])
    thread = ground.open(assistant=stock)
    run_all()

    assert replies(thread) == ["I am stock."]
    assert thread.chat_id in fragments.draw_sidebar(ground.alice, None)


def test_report_d9_histories_of_parent_and_child_never_mix_after_a_stop(ground):
    ground.assistant("stock", script=["Child words."])
    ground.script([invoke(), "Done.", "Parent words."])
    thread = ground.open("Parent question")
    step()
    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    commit_hooks()
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="And now?")
    run_all()

    child = Thread.objects.get(parent=thread)
    assert "Child words." not in page(thread, ground.alice)
    assert not child.messages.filter(parts__icontains="Parent question").exists()
    prompt = build_prompt(last_turn(thread), thread, definition_of(thread))
    assert "Child words" not in str(prompt.messages)


def test_report_d10_a_child_streams_after_its_question_as_before(ground, monkeypatch):
    thread, child = handed_over(ground, script=[ASK, "Word after word."], tools=["ask_clarifying_question"])
    opened = []
    real = live.begin
    monkeypatch.setattr(live, "begin", lambda *args, **more: opened.append(args[0]) or real(*args, **more))

    questions.answer(last_turn(child).calls.get(), by=ground.alice, chosen=["in"], text="")
    run_all()

    assert opened[0] == child.pk


def test_report_d12_a_child_cut_off_between_two_tools_is_never_called_completed(ground):
    ground.assistant("stock", tools=["current_time"], script=[{"calls": [{"name": "current_time"}]}, "Done."])
    ground.script([invoke(), "Done."])
    thread = ground.open()
    step()
    child = Thread.objects.get(parent=thread)
    step_turn = last_turn(child)
    assert last_turn(thread).calls.get().is_open and step_turn.state != Turn.State.DONE

    run_all()

    assert json.loads(last_turn(thread).calls.get().result)["reply"] == "Done."


def test_report_d13_a_message_sent_while_a_child_runs_leaves_the_child_alone(ground):
    ground.assistant("stock", script=["42"])
    ground.script([invoke(), "It is 42.", "And on."])
    thread = ground.open()
    step()

    lifecycle.send_message(thread, author=ground.alice, text="Also this")
    run_all()

    assert Turn.objects.get(thread__parent=thread).state == Turn.State.DONE
    assert replies(thread)[1:] == ["It is 42.", "And on."]


def test_report_d14_a_stopped_child_says_how_long_it_ran_and_what_it_had_done(ground):
    ground.assistant(
        "stock", tools=["current_time"], script=[{"text": "So far 31.", "calls": [{"name": "current_time"}]}, "never"]
    )
    ground.script([invoke(), "Fine."])
    thread = ground.open()
    step()
    child = last_turn(Thread.objects.get(parent=thread))
    commit_hooks()
    executors.rung.clear()
    Turn.objects.filter(pk=child.pk).update(round=1)
    reply = Message.objects.create(
        thread=child.thread, sequence=99, role="assistant", turn=child, round=0, parts=[{"type": "text", "text": "So far 31."}]
    )
    ToolCall.objects.create(turn=child, message=reply, round=0, index=0, name="current_time", state="settled", outcome="ok")

    lifecycle.stop_turn(child.pk, by="alice")

    result = json.loads(last_turn(thread).calls.get().result)
    assert result["success"] is False and result["reply"] == "So far 31."
    assert "[STOPPED]" in result["error"] and "2 steps and 1 tool calls" in result["error"]


def test_report_d16_a_child_that_failed_is_tried_again_inside_the_same_sub_chat(ground):
    thread, child = handed_over(ground, script=[{"error": "MODEL_AUTH"}])
    ground.assistant("other")
    from assistants.llm import scripted

    scripted.register(child.assistant.profile.model, ["Now it works."])

    lifecycle.retry_turn(lifecycle.last_turn(child))
    run_all()

    assert replies(child)[-1] == "Now it works." and Thread.objects.filter(parent=thread).count() == 1


def test_report_d17_a_childs_provider_error_stands_on_its_card(ground):
    thread, _ = handed_over(ground, script=[{"error": "MODEL_AUTH"}])

    html = page(thread, ground.alice)

    assert "failed" in html and last_turn(Thread.objects.get(parent=thread)).note[:20] in html


def test_report_d18_a_childs_end_is_told_exactly_once(ground):
    thread, child = handed_over(ground, script=["42"])
    from subchats.delegation.deliver import deliver, reconcile

    deliver(last_turn(child), child.delegation)
    reconcile()

    assert thread.messages.filter(role="tool").count() == 1 and replies(thread)[-1] == "Done."


def test_report_d19_a_child_is_told_nothing_of_its_siblings(ground):
    ground.assistant("a", script=["from a"])
    ground.assistant("b", script=["from b"])
    ground.script([{"calls": [*invoke("a")["calls"], *invoke("b")["calls"]]}, "Both."])
    thread = ground.open()
    run_all()

    for child in Thread.objects.filter(parent=thread):
        other = "from b" if child.assistant.slug == "a" else "from a"
        assert other not in str(list(child.messages.values_list("parts", flat=True)))


def test_report_d21_the_sub_chat_says_what_its_parent_will_learn(ground, client):
    _, child = handed_over(ground, script=["42"])
    client.force_login(ground.alice)

    html = client.get(f"/c/{child.chat_id}/").content.decode()

    assert "Lead got the result at" in html and "stays here until you send it back" in html


def test_report_d21_what_was_said_afterwards_is_sent_up_only_when_asked_for_and_once(ground):
    thread, child = handed_over(ground, script=["42", "43 now."])
    lifecycle.send_message(child, author=ground.alice, text="Sure?")
    run_all()
    before = thread.messages.filter(role="user").count()

    first = send_back(child, by=ground.alice)
    second = send_back(child, by=ground.alice)
    run_all()

    assert first.message == second.message and thread.messages.filter(role="user").count() == before + 1
    assert "43 now." in first.message.text and replies(thread)[-1] == "And on."


def test_report_d22_the_trees_total_is_the_sum_of_its_nodes(ground):
    from subchats.below import look_below

    ground.assistant("leaf", script=[{"text": "leaf", "usage": [10, 1]}])
    ground.assistant(
        "stock", tools=["invoke_assistant"], script=[{**invoke("leaf"), "usage": [20, 2]}, {"text": "s", "usage": [30, 3]}]
    )
    ground.script([invoke(), "Done."])
    thread = ground.open()
    run_all()
    child = Thread.objects.get(parent=thread)

    assert look_below([child])[child.pk].usage.tokens == 66


def test_report_d23_one_active_turn_per_sub_chat(ground):
    _, child = handed_over(ground, script=["42", "x"])
    lifecycle.retry_turn(lifecycle.last_turn(child))

    with pytest.raises(CodedError, match="answered right now"):
        lifecycle.retry_turn(lifecycle.last_turn(child))
    with pytest.raises(IntegrityError), transaction.atomic():
        Turn.objects.create(thread=child, state=Turn.State.THINKING)


def test_report_d26_a_child_that_may_delegate_can_do_so_when_it_is_a_child_itself(ground):
    ground.assistant("leaf", script=["leaf"])
    _, child = handed_over(ground, script=[invoke("leaf"), "stock"], tools=["invoke_assistant"])

    assert Thread.objects.get(parent=child).assistant.slug == "leaf"


def test_report_d27_earlier_hand_overs_keep_their_structure_in_the_history(ground):
    thread, _ = handed_over(ground, script=["42"])
    lifecycle.send_message(thread, author=ground.alice, text="More")

    prompt = build_prompt(last_turn(thread), thread, definition_of(thread))

    answers = [each for each in prompt.messages if isinstance(each, request.Answer)]
    results = [each for each in prompt.messages if isinstance(each, request.Results)]
    assert sum(len(each.calls) for each in answers) == 1 and sum(len(each.results) for each in results) == 1
    assert "Tool:" not in "".join(each.text for each in answers)


def test_report_d28_of_a_copied_assistant_only_the_copy_answers(ground):
    copy = Assistant.objects.get(pk=ground.lead.pk)
    copy.pk, copy.slug, copy.name = None, "copy", "Copy"
    copy.save()
    thread = ground.open(assistant=copy)
    run_all()

    assert Message.objects.filter(role="assistant").count() == 1 and last_turn(thread).thread.assistant == copy


def test_report_d29_a_target_is_checked_by_its_name_and_the_way_back_is_explicit(ground):
    thread, child = handed_over(ground, script=["42"])

    assert child.assistant.slug == "stock" and last_turn(thread).state == Turn.State.DONE
    assert Delegation.objects.get(child=child).returned_at is not None


def test_report_d33_work_below_a_stopped_child_ends_visibly(ground):
    ground.assistant("leaf", script=["leaf"])
    ground.assistant("stock", tools=["invoke_assistant"], script=[invoke("leaf")])
    ground.script([invoke(), "Fine."])
    thread = ground.open()
    step()
    step()
    child = Thread.objects.get(parent=thread)

    lifecycle.stop_turn(last_turn(child).pk, by="alice")
    commit_hooks()

    leaf = last_turn(Thread.objects.get(parent=child))
    assert (leaf.state, leaf.reason) == (Turn.State.STOPPED, "parent_ended")


def test_report_s2_a_turn_whose_runner_died_is_seen_and_goes_on(ground):
    from datetime import timedelta

    from assistants import clock
    from assistants.turns.claims import claim_turn
    from assistants.turns.sweeper import sweep

    thread = ground.open()
    claim_turn(last_turn(thread).pk, holder="dead:1")
    Turn.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    executors.rung.clear()

    sweep()
    run_all()

    assert "server restarted" in page(thread, ground.alice) and last_turn(thread).state == Turn.State.DONE


def test_report_s4_report_s11_a_growing_reply_belongs_to_its_thread_and_no_other(ground):
    mine, other = ground.open("one"), ground.open("two")
    reply = live.begin(mine.pk, mine.pk, mine.messages.get(role="user").pk, 7)
    try:
        reply.on_text("words")

        assert [frame["m"] for frame in LiveText(mine.pk).frames()][0] == 7
        assert list(LiveText(other.pk).frames()) == []
    finally:
        live.end(reply)


def test_report_s22_finished_and_running_tool_steps_are_both_rebuilt_from_the_record(ground):
    ground.assistant("stock", script=["42"])
    calls = [{"name": "current_time"}, invoke()["calls"][0]]
    ground.script([{"calls": calls}, "Done."])
    thread = ground.open()
    step()

    html = page(thread, ground.alice)

    assert "current_time" in html and "Stock" in html


def test_report_t2_every_open_step_gets_a_final_state_when_the_turn_is_stopped(ground):
    ground.assistant("stock", script=["42"])
    ground.script([invoke(), "Done."])
    thread = ground.open()
    step()

    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    commit_hooks()

    call = last_turn(thread).calls.get()
    assert (call.state, call.outcome) == ("settled", "stopped")
    assert not Message.objects.filter(state="streaming").exists()


def test_report_q7_report_q10_an_answer_moves_the_turn_on_at_once(ground):
    ground.script([ASK, "Going on."])
    thread = ground.open()
    run_all()

    questions.answer(last_turn(thread).calls.get(), by=ground.alice, chosen=["in"], text="")
    commit_hooks()

    assert executors.rung == [last_turn(thread).pk]
    run_all()
    assert (last_turn(thread).state, replies(thread)[-1]) == (Turn.State.DONE, "Going on.")


def test_report_p_a_result_is_kept_as_text_that_every_database_takes():
    assert as_text("a\0b") == "ab"


def test_report_s18_events_are_small_whatever_they_tell_of(ground):
    ground.script(["x" * 100_000])
    thread = ground.open()
    run_all()

    assert max(len(json.dumps(event.payload)) for event in events.events_after(thread.pk, 0)) < 1024
