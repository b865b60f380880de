"""A person's word on a plan: approved, changed or rejected, bound to the version that was shown (decision 5, L1, L2)."""

import pytest

from assistants.conversations.inbox import inbox_of
from assistants.errors import CodedError
from assistants.models import Assistant, AuditEntry, Domain, ToolCall
from assistants.turns import lifecycle
from assistants.turns.sweeper import sweep
from subchats.models import Delegation, Plan
from subchats.planning import approval
from subchats.planning.steps import Draft
from tests.kit.turns import last_turn, replies, run_all
from tests.planning.team import call, codes, invoke, plan, play, reply, step, steps_in

RETURNS = step("Returns", specialist="desk")
STOCK = step("Stock", specialist="count")


@pytest.fixture
def asking(team):
    Assistant.objects.filter(pk=team.lead.pk).update(plan_approval="person")
    return team


def waiting(thread) -> ToolCall:
    return last_turn(thread).calls.filter(name="write_plan", state="open").first()


def word(thread, *, by, shown=None):
    current = Plan.objects.get(turn=last_turn(thread)).hash
    return approval.Decision(by=by, name=by.display_name, shown=current if shown is None else shown)


def approve(world, thread, **more):
    approval.approve(waiting(thread), word(thread, by=world.alice, **more))
    run_all()


def test_decision_5_a_plan_that_a_person_must_approve_puts_the_turn_to_sleep(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"))

    turn = last_turn(thread)
    assert (turn.state, turn.holder, turn.lease_until) == ("waiting", "", None)
    assert waiting(thread).is_asked and not Delegation.objects.exists()
    assert [each.call.name for each in inbox_of(asking.alice).waiting] == ["write_plan"]


def test_decision_5_nothing_in_the_same_reply_slips_past_the_approval(asking):
    together = reply(call("write_plan", steps=[RETURNS]), *invoke("desk")["calls"])

    thread = play(asking, together)

    assert codes(thread) == ["", "PLAN_NOT_APPROVED"] and not Delegation.objects.exists()


def test_decision_5_once_it_is_approved_the_turn_goes_on_and_hands_over(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"))

    approve(asking, thread)

    made = Plan.objects.get()
    assert made.is_approved and (made.approved_by, made.approved_steps) == (asking.alice, 1)
    assert codes(thread) == ["", ""] and steps_in(thread) == [("Returns", "reported")]
    assert AuditEntry.objects.filter(action="plan_approved", user=asking.alice).exists()
    assert not inbox_of(asking.alice).waiting


def test_decision_5_appended_steps_ask_again(asking):
    thread = play(asking, plan(RETURNS), plan(STOCK), invoke("desk"))
    approve(asking, thread)

    assert waiting(thread) and not Plan.objects.get().is_approved and not Delegation.objects.exists()

    approve(asking, thread)

    assert Plan.objects.get().approved_steps == 2 and steps_in(thread)[0] == ("Returns", "reported")


def test_decision_5_an_approved_plan_releases_its_own_steps_alone(asking):
    asking.assistant("second", domain=Domain.objects.get(slug="returns"), script=["Second."])
    thread = play(asking, plan(RETURNS), invoke("second"), invoke("count"))

    approve(asking, thread)

    assert codes(thread) == ["", "UNPLANNED_STEP", "UNPLANNED_STEP"] and not Delegation.objects.exists()


def test_an_approval_is_bound_to_the_version_that_was_shown(asking):
    thread = play(asking, plan(RETURNS))
    seen = Plan.objects.get().hash
    approval.change(waiting(thread), word(thread, by=asking.alice), [Draft("Stock", "A figure", "count")], approved=False)

    with pytest.raises(CodedError) as refused:
        approve(asking, thread, shown=seen)

    assert refused.value.code == "PLAN_CHANGED"
    assert not Plan.objects.get().is_approved and waiting(thread)


def test_a_person_changes_the_steps_and_the_assistant_works_with_theirs(asking):
    thread = play(asking, plan(RETURNS, STOCK), invoke("desk"), invoke("count"))

    approval.change(waiting(thread), word(thread, by=asking.alice), [Draft("Only stock", "A figure", "count")], approved=True)
    run_all()

    made = Plan.objects.get()
    assert (made.version, made.changed_by, made.is_approved) == (2, asking.alice, True)
    assert steps_in(thread) == [("Only stock", "reported")]
    assert codes(thread) == ["", "UNPLANNED_STEP", ""]
    assert "changed the steps" in last_turn(thread).calls.get(name="write_plan").result


@pytest.mark.parametrize(
    ("drafts", "code"),
    [
        ([], "PLAN_EMPTY"),
        ([Draft("Stock", "done", "count")], "CHECK_TRIVIAL"),
        ([Draft("Stock", "A figure", "nobody")], "SPECIALIST_UNKNOWN"),
        ([Draft(f"Part {letter} of the count", "A figure") for letter in "abcdefghijklm"], "PLAN_TOO_LONG"),
    ],
)
def test_a_persons_steps_keep_the_same_rules(asking, drafts, code):
    thread = play(asking, plan(RETURNS))

    with pytest.raises(CodedError) as refused:
        approval.change(waiting(thread), word(thread, by=asking.alice), drafts, approved=True)

    assert refused.value.code == code
    assert steps_in(thread) == [("Returns", "pending")] and not Plan.objects.get().is_approved


def test_report_l2_a_rejected_plan_never_comes_back_and_its_words_are_read(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"), plan(STOCK), invoke("count"))

    approval.reject(waiting(thread), word(thread, by=asking.alice), words="Look into stock first.")
    run_all()

    told = last_turn(thread).calls.filter(name="write_plan").order_by("round").first()
    assert told.code == "PLAN_REJECTED" and "Look into stock first." in told.result
    assert codes(thread)[:2] == ["PLAN_REJECTED", "SPAWN_NO_PLAN"]
    assert steps_in(thread) == [("Stock", "pending")]

    approve(asking, thread)

    assert steps_in(thread) == [("Stock", "reported")]


def test_report_l2_rejecting_what_was_appended_leaves_what_was_approved(asking):
    thread = play(asking, plan(RETURNS), plan(STOCK), invoke("desk"))
    approve(asking, thread)

    approval.reject(waiting(thread), word(thread, by=asking.alice), words="")
    run_all()

    assert Plan.objects.get().is_approved and steps_in(thread) == [("Returns", "reported")]


def test_deciding_twice_is_harmless_and_the_first_word_counts(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"))
    asked, decision = waiting(thread), word(thread, by=asking.alice)

    approval.approve(asked, decision)
    approval.approve(asked, decision)
    with pytest.raises(CodedError) as late:
        approval.reject(asked, decision, words="No")
    run_all()

    assert late.value.code == "PLAN_DECIDED"
    assert Delegation.objects.count() == 1 and Plan.objects.get().is_approved


def test_rejecting_twice_is_harmless(asking):
    thread = play(asking, plan(RETURNS))
    asked, decision = waiting(thread), word(thread, by=asking.alice)

    approval.reject(asked, decision, words="No")
    approval.reject(asked, decision, words="No")

    assert AuditEntry.objects.filter(action="plan_rejected").count() == 1


def test_report_d31_two_plans_in_one_reply_wait_for_one_word(asking):
    both = reply(call("write_plan", steps=[RETURNS]), call("write_plan", steps=[STOCK]))
    thread = play(asking, both, invoke("desk"))
    assert last_turn(thread).calls.filter(state="open").count() == 2

    approve(asking, thread)

    assert codes(thread) == ["", "", ""] and steps_in(thread)[0] == ("Returns", "reported")


def test_report_q13_stopping_the_turn_closes_the_question_and_the_next_message_works(asking):
    thread = play(asking, plan(RETURNS))
    asked, decision = waiting(thread), word(thread, by=asking.alice)

    lifecycle.stop_turn(last_turn(thread).pk, by="Alice")
    with pytest.raises(CodedError) as late:
        approval.approve(asked, decision)
    asking.script(["", "Hello again."])
    lifecycle.send_message(thread, author=asking.alice, text="Leave it")
    run_all()

    assert late.value.code == "PLAN_DECIDED" and replies(thread)[-1] == "Hello again."


def test_a_message_is_no_consent(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"))

    lifecycle.send_message(thread, author=asking.alice, text="Yes, go ahead")
    run_all()

    assert not Plan.objects.get().is_approved and not Delegation.objects.exists()


def test_report_l1_a_plan_that_waits_is_the_same_after_a_restart(asking):
    thread = play(asking, plan(RETURNS), invoke("desk"))
    # The server died between the body of write_plan and the moment when its outcome was stored.
    last_turn(thread).calls.update(approval=None, pending=False)
    type(last_turn(thread)).objects.filter(pk=last_turn(thread).pk).update(state="acting", lease_until="2000-01-01T00:00:00Z")

    sweep()
    run_all()

    assert Plan.objects.get().version == 1 and steps_in(thread) == [("Returns", "pending")]
    assert waiting(thread).is_asked
    approve(asking, thread)
    assert steps_in(thread) == [("Returns", "reported")]


def test_a_supervisors_plan_asks_the_person_from_below(team):
    domain = Domain.objects.get(slug="returns")
    team.assistant("head", tools=["write_plan", "invoke_assistant"], domain=domain, plan_approval="person",
                   script=[plan(RETURNS), invoke("desk"), "It is in."])  # fmt: skip
    thread = play(team, invoke("head"))
    below = thread.children.get()

    assert [each.thread for each in inbox_of(team.alice).waiting] == [below]

    approve(team, below)

    assert steps_in(below) == [("Returns", "reported")] and last_turn(thread).state == "done"


def test_another_call_is_no_plan(asking):
    thread = play(asking, reply(call("confirm_step", index=1, evidence="118")))

    with pytest.raises(CodedError) as refused:
        approval.approve(last_turn(thread).calls.get(), approval.Decision(asking.alice, "Alice", "x"))

    assert refused.value.code == "NOT_A_PLAN"
