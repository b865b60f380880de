"""One budget over the tree: reserved before each call, settled after it, and what happens when it is used up (J-13, J-19)."""

import json
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistants import clock
from assistants.llm import scripted
from assistants.models import Message, SpendEntry, Thread, Turn
from assistants.turns import allowance, budget, executors, lifecycle, think
from assistants.turns.claims import claim_turn
from assistants.turns.loop import run_turn
from assistants.turns.sweeper import sweep
from subchats.cards import card_context
from tests.kit.meanwhile import run_and
from tests.kit.turns import commit_hooks, last_turn, replies, run_all

from .ledger import check, pay, spent


def asks(*tasks: str, tool: str = "invoke_assistant") -> dict[str, object]:
    return {"calls": [{"name": tool, "arguments": {"assistant": "stock", "task": task}} for task in tasks]}


def run_first() -> None:
    """Runs the turn that was rung for first, one runner long."""
    commit_hooks()
    run_turn(executors.rung.pop(0))
    commit_hooks()


def limit(ground, tokens: int | None) -> None:
    ground.lead.turn_tokens = tokens
    ground.lead.save()


def talk(ground, *steps: object, text: str = "Hello") -> Thread:
    ground.script(list(steps))
    thread = ground.open(text)
    run_all()
    return thread


def results(thread: Thread) -> list[dict[str, object]]:
    return [json.loads(call.result) for call in last_turn(thread).calls.order_by("round", "index")]


def test_p15_every_call_is_reserved_before_and_settled_after(ground) -> None:
    ground.script([{"text": "Hello. " * 20, "delay_ms": 10}])
    thread = ground.open()

    open_while_it_ran = run_and(lambda: SpendEntry.objects.filter(settled=None).count())

    entry = SpendEntry.objects.get()
    assert open_while_it_ran == 1
    assert entry.tokens == entry.turn.input_tokens + entry.turn.output_tokens > 0
    assert entry.tokens < entry.reserved
    assert (entry.tenant, entry.user, entry.assistant) == (ground.apes, ground.alice, ground.lead)
    check(last_turn(thread))


def test_d22_a_tree_is_paid_on_the_account_of_its_top(ground) -> None:
    ground.assistant("stock", script=["There are 42."])

    thread = talk(ground, asks("Count"), "Done: 42.")

    root = last_turn(thread)
    assert SpendEntry.objects.filter(root=root).count() == 3
    assert {entry.turn.thread_id for entry in SpendEntry.objects.all()} == {thread.pk, thread.children.get().pk}
    check(root)


def test_a_call_costs_two_queries_before_it_and_one_after_it(ground) -> None:
    turn = last_turn(ground.open())
    claim = claim_turn(turn.pk, holder="test:1")
    with CaptureQueriesContext(
        connection,
    ) as before:
        allowed, *_ = think._open_reply(claim)

    with CaptureQueriesContext(connection) as after:
        budget.settle(allowed.permit, tokens=10, cost=0)

    assert sum("spendentry" in query["sql"] for query in before) == 2
    assert len(after) == 1


def test_f26_the_top_is_told_in_four_parts_and_answers_out_of_its_reserve_j13(ground) -> None:
    limit(ground, 4000)
    ground.assistant("stock", script=["x"])
    ground.script([asks("Count"), "What is established: nothing. Is this the right way?"])
    thread = ground.open()
    pay(last_turn(thread), 2950)

    run_all()

    turn = last_turn(thread)
    asked = scripted.requests(ground.lead.profile.model)[0].conversation()
    for part in ("take stock", "report what is established", "name what you were about to hand over", "ask the person"):
        assert part in asked.system
    assert asked.tools == {"ask_clarifying_question"}
    assert turn.budget_notice == 100
    assert turn.calls.get().code == "BUDGET_EXHAUSTED"
    assert not thread.children.exists()


def test_j13_nobody_is_set_to_work_once_it_is_used_up(ground) -> None:
    limit(ground, 4000)
    thread = ground.open()
    turn = last_turn(thread)
    assert not budget.is_exhausted(turn)

    pay(turn, 3000)

    assert budget.is_exhausted(turn)


def test_a_turn_without_a_bound_is_never_refused(ground, settings) -> None:
    limit(ground, 0)
    thread = ground.open()
    pay(last_turn(thread), 5_000_000)

    run_all()

    assert last_turn(thread).state == Turn.State.DONE
    assert not budget.is_exhausted(last_turn(thread))


def test_at_four_fifths_person_and_model_are_told_once(ground) -> None:
    limit(ground, 100_000)
    ground.script([{"calls": [{"name": "current_time"}]}, {"calls": [{"name": "current_time"}]}, "Done."])
    thread = ground.open()
    turn = last_turn(thread)
    pay(turn, 80_000)

    run_all()

    turn.refresh_from_db()
    asked = scripted.requests(ground.lead.profile.model)[0].conversation()
    assert turn.state == Turn.State.DONE and turn.budget_notice == 80
    assert "80 % of this request's token budget" in asked.system
    assert "current_time" in asked.tools
    client = Client()
    client.force_login(ground.alice)
    assert "Four fifths of this turn" in client.get(f"/c/{thread.chat_id}/").content.decode()


def test_j19_a_child_that_outgrows_the_budget_is_cut_off_with_its_text(ground) -> None:
    """Journey 7: one of two is cut, the next is refused in four parts, and the top answers within its reserve."""
    limit(ground, 16_000)
    words = "All that I know about bananas. " * 2000
    short = {"text": "They are yellow.", "usage": [10_000, 400]}
    ground.assistant(
        "stock",
        script={
            "rules": [{"when": {"user": "colour"}, "reply": short}, {"when": {}, "reply": {"text": words, "delta_chars": 400}}]
        },
    )

    thread = talk(ground, asks("Tell the colour", "Tell all"), asks("Tell again"), "That is what we have.")

    first, result, second = last_turn(thread).calls.order_by("round", "index")
    report = json.loads(result.result)
    assert json.loads(first.result)["success"] is True
    assert report["success"] is False
    assert report["error"].startswith("[BUDGET_OVERRUN] ") and "likely incomplete" in report["error"]
    assert words.startswith(report["reply"]) and len(report["reply"]) > 500
    assert second.code == "BUDGET_EXHAUSTED"
    assert replies(thread)[-1] == "That is what we have."
    root = last_turn(thread)
    assert root.state == Turn.State.DONE
    assert spent(root) <= 16_000
    check(root)


def test_j19_the_card_of_a_child_that_was_cut_off_says_so_and_lets_it_run_again(ground) -> None:
    limit(ground, 4000)
    ground.assistant("stock", script=[{"text": "Bananas are yellow. " * 3000, "delta_chars": 400}])
    thread = talk(ground, asks("Tell"), "Well.")
    child = thread.children.get()
    client = Client()
    client.force_login(ground.alice)

    page = client.get(f"/c/{thread.chat_id}/").content.decode()

    assert card_context(last_turn(thread).calls.get())["state"] == "cut_off"
    assert "cut off" in page and "Run again" in page and "Continue" in page
    assert client.post(f"/c/{child.chat_id}/run-again/").status_code in (200, 204, 302)
    assert last_turn(child).state == Turn.State.THINKING
    assert last_turn(child).root_id is None


def test_a_child_without_a_token_left_ends_with_what_it_has(ground) -> None:
    limit(ground, 4000)
    ground.assistant("stock", script=["42"])
    ground.script([asks("Count"), "Done."])
    thread = ground.open()
    run_first()
    pay(last_turn(thread), 2990)

    run_all()

    report = results(thread)[0]
    assert report["success"] is False and "BUDGET_OVERRUN" in report["error"]
    assert last_turn(thread.children.get()).reason == "limit:budget"


def test_two_children_that_could_take_too_much_together_go_one_after_the_other(ground, monkeypatch) -> None:
    moved = {"by": 0}
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + clock_delta(moved["by"]))
    limit(ground, 12_000)
    ground.assistant("stock", script=["There are 42."])
    ground.script([asks("Count A", "Count B"), "Done."])
    thread = ground.open()
    run_first()
    first, second = Turn.objects.filter(root=last_turn(thread)).order_by("pk")
    executors.rung.clear()
    claim = claim_turn(first.pk, holder="test:1")
    think._open_reply(claim)

    run_turn(second.pk)

    second.refresh_from_db()
    assert (second.state, second.reason) == (Turn.State.PAUSED, "wait:budget")
    budget.settle(budget.Permit(SpendEntry.objects.get(turn=first).pk, 0, 0, 0), tokens=100, cost=0)
    moved["by"] = 5
    sweep()
    run_turn(second.pk)
    second.refresh_from_db()
    assert second.state == Turn.State.DONE


def clock_delta(seconds: int):
    return timedelta(seconds=seconds)


def used_up(ground) -> Thread:
    """A conversation whose turn pauses because its budget is used up, after one tool call."""
    limit(ground, 4000)
    ground.script([{"calls": [{"name": "current_time"}]}, "Here is the answer."])
    thread = ground.open()
    pay(last_turn(thread), 4000)
    run_all()
    return thread


def test_a_turn_that_can_say_no_more_pauses_and_goes_on_with_more_tokens(ground) -> None:
    thread = used_up(ground)
    turn = last_turn(thread)
    assert (turn.state, turn.reason, turn.wake_at) == (Turn.State.PAUSED, "limit:budget", None)
    sweep()
    assert executors.rung == []
    client = Client()
    client.force_login(ground.alice)
    assert "Go on with 60k more tokens" in client.get(f"/c/{thread.chat_id}/").content.decode()

    assert client.post(f"/turn/{turn.pk}/more/").status_code in (200, 204, 302)
    run_all()

    turn.refresh_from_db()
    assert turn.state == Turn.State.DONE and turn.extra_tokens == 60_000
    assert replies(thread)[-1] == "Here is the answer."
    assert turn.calls.get().attempts == 1


def test_a_top_up_counts_once_however_often_it_is_clicked(ground) -> None:
    turn = last_turn(used_up(ground))
    allowance.top_up(turn.pk)

    second = allowance.top_up(turn.pk)

    turn.refresh_from_db()
    assert second == 0 and turn.extra_tokens == 60_000


def test_only_the_owner_adds_tokens(ground) -> None:
    turn = last_turn(used_up(ground))
    for other, status in ((ground.bob, 404), (ground.charlie, 404)):
        client = Client()
        client.force_login(other)
        assert client.post(f"/turn/{turn.pk}/more/").status_code == status

    turn.refresh_from_db()
    assert turn.extra_tokens == 0


def test_a_visitor_adds_no_tokens(ground) -> None:
    public = ground.assistant("shop", public=True, script=["Hello."], turn_tokens=4000)
    client = Client()
    client.get("/")
    client.post("/c/", {"assistant": public.pk, "text": "Hi", "client_key": "k1"})
    thread = Thread.objects.get(assistant=public)
    pay(last_turn(thread), 4000)
    run_all()
    assert last_turn(thread).reason == "limit:budget"

    answer = client.post(f"/turn/{last_turn(thread).pk}/more/")

    assert answer.status_code == 403
    assert last_turn(thread).extra_tokens == 0


def test_a_turn_that_pauses_for_tokens_can_be_stopped(ground) -> None:
    turn = last_turn(used_up(ground))

    lifecycle.stop_turn(turn.pk, by="alice")

    turn.refresh_from_db()
    assert turn.state == Turn.State.STOPPED
    check(turn)


def test_s29_a_budget_that_is_lowered_in_mid_turn_counts_at_the_next_call(ground) -> None:
    ground.script([{"calls": [{"name": "current_time"}]}, {"calls": [{"name": "current_time"}]}, "Done."])
    thread = ground.open()
    run = last_turn(thread)
    claim = claim_turn(run.pk, holder="test:1")
    think.think(claim)

    limit(ground, 60)
    run_all_from(run)

    run.refresh_from_db()
    assert run.reason == "limit:budget" and run.state == Turn.State.PAUSED
    check(run)


def run_all_from(turn: Turn) -> None:
    Turn.objects.filter(pk=turn.pk).update(lease_until=None)
    run_turn(turn.pk)
    run_all()


def test_s29_failed_calls_and_retries_are_paid_for(ground) -> None:
    ground.script(
        {"rules": [{"when": {}, "steps": [{"text": "Half an ans", "cut": True}]}]},
    )
    thread = ground.open()

    run_all()
    turn = last_turn(thread)
    assert turn.state == Turn.State.PAUSED and turn.failures == 1

    paid = SpendEntry.objects.get()
    assert paid.settled and paid.tokens > 0
    check(turn)


def test_a_stopped_call_is_paid_for_by_what_was_asked_and_written(ground) -> None:
    ground.script([{"text": "Word " * 200, "delta_chars": 50, "delay_ms": 20}])
    thread = ground.open()
    turn = last_turn(thread)

    run_and(lambda: lifecycle.stop_turn(turn.pk, by="alice"), chars=100)

    turn.refresh_from_db()
    assert turn.state == Turn.State.STOPPED and turn.output_tokens >= 25 and turn.input_tokens > 0
    check(turn)


def test_a_dead_runners_call_is_settled_by_the_next_attempt(ground) -> None:
    ground.script(["Hello."])
    thread = ground.open()
    turn = last_turn(thread)
    claim = claim_turn(turn.pk, holder="dead:1")
    think._open_reply(claim)
    Turn.objects.filter(pk=turn.pk).update(lease_until=clock.now() - clock_delta(1))

    run_turn(turn.pk)

    assert SpendEntry.objects.filter(turn=turn).count() == 2
    assert last_turn(thread).state == Turn.State.DONE
    check(turn)


def test_a_reply_that_the_provider_ended_at_the_budget_is_no_success(ground) -> None:
    """A provider that keeps to the tokens it was given ends its reply like one that was too long for itself."""
    limit(ground, 4000)
    ground.assistant("stock", script=[{"text": "Half a tale", "finish": "length"}])

    thread = talk(ground, asks("Tell"), "Done.")

    report = results(thread)[0]
    assert report["success"] is False and report["reply"] == "Half a tale" and "BUDGET_OVERRUN" in report["error"]
    assert Message.objects.filter(thread=thread.children.get(), role="assistant").get().state == Message.State.INTERRUPTED


def test_what_a_turn_might_use_stays_what_it_was_when_it_ended(ground):
    limit(ground, 50_000)
    turn = last_turn(talk(ground, "Done."))

    limit(ground, 9_000)

    assert budget.cap_of(Turn.objects.get(pk=turn.pk)) == 50_000
