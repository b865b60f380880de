"""Conversations that nobody touches go after as many days as their team keeps them, and no others."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from assistants import clock
from assistants.models import AuditEntry, Message, Thread, Turn
from assistants.retention import ageing
from assistants.turns.sweeper import sweep
from tests.kit.sealed import call
from tests.kit.turns import commit_hooks, run_all


@pytest.fixture
def later(monkeypatch):
    """Lets days pass."""
    monkeypatch.setattr(ageing, "_next_look", 0.0)
    now, steady = clock.now(), clock.monotonic()

    def pass_days(days):
        monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=days))
        monkeypatch.setattr(clock, "monotonic", lambda: steady + days * 86400)

    return pass_days


def retain(*options):
    out = StringIO()
    call_command("retain", *options, stdout=out)
    commit_hooks()
    return out.getvalue().splitlines()


def test_only_what_was_untouched_for_so_long_goes_and_what_is_below_with_it(ground, later):
    stock = ground.assistant("stock", script=["Seven."])
    ground.lead.delegates.add(stock)
    ground.script([{"calls": [call("invoke_assistant", assistant="stock", task="Count")]}, "Seven."])
    old = ground.open("Old")
    run_all()
    ground.script({"steps": ["Yes."], "forever": True})
    fresh = ground.open("Fresh")
    run_all()
    later(31)
    Message.objects.filter(pk=fresh.messages.order_by("-sequence").first().pk).update(created=clock.now() - timedelta(days=29))

    said = retain("--days", "30")

    assert said == ["apes: 1 deleted, untouched for 30 days", "bears: 0 deleted, untouched for 30 days"]
    assert list(Thread.objects.all()) == [fresh]
    assert AuditEntry.objects.get(action="delete").target == old.chat_id


def test_a_sub_chat_that_somebody_went_on_in_keeps_the_whole(ground, later):
    ground.open("Old")
    run_all()
    root = Thread.objects.get()
    child = Thread.objects.create(tenant=root.tenant, owner=root.owner, parent=root, root=root)
    later(31)
    Message.objects.create(thread=child, sequence=1, role="user")
    Message.objects.filter(thread=child).update(created=clock.now())

    assert retain("--days", "30")[0] == "apes: 0 deleted, untouched for 30 days"


def test_one_at_work_stays_and_one_that_waits_for_a_person_goes(ground, later):
    ask = call("ask_clarifying_question", question="Which?", options=["Red", "Blue"])
    ground.script([{"calls": [ask]}])
    waiting = ground.open("Paint it")
    run_all()
    working = ground.open("At work")
    commit_hooks()
    assert Turn.objects.active().count() == 1
    later(31)

    retain("--days", "30")

    assert list(Thread.objects.all()) == [working]
    assert not Thread.objects.filter(pk=waiting.pk).exists()


def test_each_team_keeps_as_long_as_it_set_and_for_ever_without(ground, later):
    ground.open("Of the apes")
    head = ground.assistant("head", tenant=ground.bears, script=["Yes."])
    ground.open("Of the bears", owner=ground.charlie, assistant=head)
    run_all()
    ground.apes.keep_days = 10
    ground.apes.save()
    later(11)

    dry = retain("--dry-run")
    done = retain()

    assert dry == ["apes: 1 would be deleted, untouched for 10 days", "bears: kept for ever"]
    assert done == ["apes: 1 deleted, untouched for 10 days", "bears: kept for ever"]
    assert [thread.tenant for thread in Thread.objects.all()] == [ground.bears]


def test_the_sweeper_does_it_a_few_at_a_time_and_not_at_every_round(ground, later, monkeypatch):
    monkeypatch.setattr(ageing, "AT_ONCE", 2)
    for number in range(5):
        ground.script(["Yes."])
        ground.open(f"Number {number}")
        run_all()
    ground.apes.keep_days = 10
    ground.apes.save()
    later(11)

    sweep()
    sweep()
    after_one = Thread.objects.count()
    later(11.01)
    sweep()

    assert (after_one, Thread.objects.count()) == (3, 1)


def test_odd_options_are_refused_with_a_sentence(ground):
    with pytest.raises(CommandError, match="1 or more"):
        retain("--days", "0")
    with pytest.raises(CommandError, match="no tenant nobody"):
        retain("--tenant", "nobody")
