"""Whatever happens to a tree in whatever order: it spends the cap and one call at most, and the ledger agrees (I10, P15)."""

from datetime import timedelta
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from assistants.models import SpendEntry, Thread, Turn
from assistants.turns import budget
from assistants.turns.lifecycle import stop_turn
from assistants.turns.sweeper import sweep
from tests.kit import turns, world
from tests.properties.test_trees import Clock, begin, happen, own_clock
from tests.properties.trees import Deed, Node, deeds, trees

from .ledger import check, largest_call, spent, used_by

calls = st.tuples(st.sampled_from(["reserve", "settle", "crash", "stop", "lower"]), st.integers(0, 9), st.integers(0, 3000))


def family(cap: int, parents: list[int]) -> tuple[world.World, list[Turn]]:
    """A turn with a random tree below it; each is below the one whose place stands in the list."""
    turns.forget()
    ground = world.build()
    ground.lead.turn_tokens = cap
    ground.lead.save()
    made = [turns.last_turn(ground.open("Go"))]
    for place in parents:
        turn = turns.last_turn(ground.open("Below"))
        Turn.objects.filter(pk=turn.pk).update(root=made[0])
        above = made[place % len(made)].thread
        Thread.objects.filter(pk=turn.thread_id).update(parent=above, root=made[0].thread)
        made.append(Turn.objects.select_related("thread").get(pk=turn.pk))
    return ground, made


class Budgets(TestCase):
    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        cap=st.integers(2000, 20_000),
        parents=st.lists(st.integers(0, 9), max_size=8),
        story=st.lists(calls, max_size=40),
    )
    def test_p15_any_order_of_reserving_settling_crashing_and_stopping_keeps_to_the_cap(self, cap, parents, story) -> None:
        ground, tree = family(cap, parents)
        permits: dict[int, budget.Permit] = {}
        highest = cap
        for deed, which, size in story:
            turn = Turn.objects.select_related("thread").get(pk=tree[which % len(tree)].pk)
            match deed:
                case "reserve" if not turn.is_final and turn.pk not in permits:
                    standing = budget.standing_of(turn)
                    # The turn at the top has no call under way while those below it have.
                    if not standing.is_root or not standing.held:
                        permit = budget.reserve(turn, standing, asked=size // 4, output=size)
                        if isinstance(permit, budget.Permit):
                            permits[turn.pk] = permit
                case "settle" if turn.pk in permits:
                    permit = permits.pop(turn.pk)
                    used = min(size, permit.reserved)
                    cost = budget.charge(turn, input_tokens=0, output_tokens=used, prices=(1.0, 2.0))
                    turn.save()
                    budget.settle(permit, tokens=used, cost=cost)
                case "crash":
                    permits.pop(turn.pk, None)
                case "stop":
                    permits.pop(turn.pk, None)
                    stop_turn(turn.pk, by="alice")
                case "lower":
                    ground.lead.turn_tokens = max(1, cap - size)
                    ground.lead.save()
            assert used_by(tree[0]) <= highest + largest_call(tree[0])
        for turn in tree:
            stop_turn(turn.pk, by="alice")

        assert spent(tree[0]) <= highest + largest_call(tree[0])
        check(Turn.objects.get(pk=tree[0].pk))
        assert all(entry.cost >= Decimal(0) for entry in SpendEntry.objects.all())

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tree=trees, story=st.lists(deeds, max_size=15), cap=st.integers(2000, 30_000))
    def test_i10_a_random_tree_that_crashes_and_stops_agrees_with_its_ledger(
        self, tree: Node, story: list[Deed], cap: int
    ) -> None:
        with own_clock() as moving:
            thread = begin(tree)
            thread.assistant.turn_tokens = cap
            thread.assistant.save()

            for deed in story:
                happen(deed, moving)
            come_to_rest(moving)

            root = turns.last_turn(thread)
            assert spent(root) <= cap + largest_call(root)
            for top in Turn.objects.filter(root=None):
                check(top)


def come_to_rest(moving: Clock) -> None:
    """Everything runs to its end; what waits for a person to add tokens is stopped."""
    for _ in range(40):
        turns.run_all()
        for turn in Turn.objects.filter(reason="limit:budget", state="paused"):
            stop_turn(turn.pk, by="alice")
        if not Turn.objects.active().exists():
            return
        moving.moved += timedelta(seconds=20)
        sweep()
        turns.commit_hooks()
    raise AssertionError(f"not at rest: {list(Turn.objects.active().values('pk', 'state', 'reason'))}")
