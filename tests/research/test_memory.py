"""Feedback is kept, counts once, makes room for itself, and only nudges (A-38, A-39)."""

from pathlib import Path

import pytest

from subchats.models import CuratedResult, ResearchInsight, ResearchSignal
from subchats.research import feedback, memory
from subchats.research.memory import Hint, hints_for, remember_implicit
from tests.kit.world import World
from tests.research.house import House, build, candidate, emits, handoff, run_of, sends

SOURCE = "handbook/returns/refunds.md"


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    return build(ground, tmp_path)


def result_of(house: House) -> CuratedResult:
    return run_of(house.ask([sends(), emits()], [handoff()])).results.get()


def signals(house: House) -> list[tuple[str, float, bool]]:
    found = ResearchSignal.objects.filter(tenant=house.ground.apes)
    return list(found.values_list("source", "weight", "explicit"))


def test_a38_a_word_on_a_result_is_shared_among_its_evidence(house: House) -> None:
    entry = {"number": 1, "source": SOURCE, "method": "posix", "content": "x"}
    both = [{"excerpt": "Refunds are paid within five working days."}, {"excerpt": "Gift cards are paid back as gift cards."}]
    thread = house.ask(
        [sends(), emits(mapping=[{**entry, "evidenceRefs": both}])],
        [handoff(candidate(), candidate(evidence="Gift cards are paid back as gift cards.", locator="line 4"))],
    )

    feedback.give(run_of(thread).results.get(), 1)

    assert signals(house) == [(SOURCE, 0.5, True), (SOURCE, 0.5, True)]


def test_a38_the_same_word_counts_once_and_a_new_one_replaces_it(house: House) -> None:
    result = result_of(house)

    said = [feedback.give(result, useful) for useful in (1, 1, -1, 0)]

    assert said == [True, False, True, True]
    assert signals(house) == []
    feedback.give(result, -1)
    assert signals(house) == [(SOURCE, -1.0, True)]


def test_a38_implicit_signs_are_small_and_capped(house: House) -> None:
    evidence = list(result_of(house).evidence.all())

    for _ in range(5):
        remember_implicit(evidence, ResearchSignal.Kind.FOLLOW_UP)

    assert [weight for _, weight, _ in signals(house)] == [0.25, 0.25]
    remember_implicit(evidence, ResearchSignal.Kind.RETRY)
    assert sum(weight for _, weight, _ in signals(house)) == 0.25


def test_a38_old_signals_become_insights_and_caps_hold(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_SIGNALS", 10)
    monkeypatch.setattr(memory, "BATCH", 6)
    result = result_of(house)
    old = [
        ResearchSignal(
            tenant=house.ground.apes, kind="feedback", stable_id="e", source=SOURCE, method="posix", weight=1, explicit=True
        )
        for _ in range(10)
    ]
    ResearchSignal.objects.bulk_create(old)

    feedback.give(result, 1)

    assert ResearchSignal.objects.count() == 5
    assert list(ResearchInsight.objects.values_list("source", "method", "score", "signals")) == [(SOURCE, "posix", 6.0, 6)]


@pytest.mark.parametrize(
    ("weights", "explicit"), [([1.0] * 4, True), ([0.25] * 12, False), ([1.0, -1.0] * 4, True)], ids=["few", "implicit", "torn"]
)
def test_a38_few_only_implicit_or_contradictory_signals_teach_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, weights: list[float], explicit: bool
) -> None:
    monkeypatch.setattr(memory, "MAX_SIGNALS", 0)
    result = result_of(house)
    ResearchSignal.objects.bulk_create(
        ResearchSignal(
            tenant=house.ground.apes, kind="retry", stable_id="e", source="other", method="m", weight=weight, explicit=explicit
        )
        for weight in weights
    )

    feedback.give(result, 1)

    assert not ResearchInsight.objects.exists()
    assert not ResearchSignal.objects.exists()


def test_a38_hints_grow_surer_with_signals_and_stay_in_their_tenant(house: House) -> None:
    result = result_of(house)
    assert hints_for(house.ground.apes, [SOURCE]) == {}

    feedback.give(result, 1)

    assert hints_for(house.ground.apes, [SOURCE, "other"]) == {SOURCE: Hint(preference=1.0, confidence=0.2)}
    assert hints_for(house.ground.bears, [SOURCE]) == {}


def test_a39_feedback_finds_its_result_by_number_and_by_id(house: House) -> None:
    """Journey 9, its second half: what is stored is found by number, by whatever process."""
    from subchats.research_cards import result_of_feedback

    result = result_of(house)

    assert result_of_feedback(f"{result.run.session}:1") == result
    for unknown in ("", ":", "x:1", f"{result.run.session}:2", f"{result.run.session}:", f"{result.run.session}:1e1"):
        assert result_of_feedback(unknown) is None
