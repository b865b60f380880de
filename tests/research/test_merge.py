"""The hits of several methods become one order, as A-37 has it."""

import random

import pytest

from assistants.documents import indexing, methods, vectors
from assistants.documents.merge import Hit, merge, normalized
from assistants.documents.methods import method_names, register_method, retrieve
from assistants.errors import CodedError
from assistants.models import DocumentRoot


def hit(source: str, score: float, method: str = "bm25", place: str = "line 1") -> Hit:
    return Hit(source, place, f"words of {source} at {place}", score, method)


def order(merged) -> list[tuple[str, float]]:
    return [(each.source, each.score) for each in merged]


def test_a37_scores_are_spread_for_each_method_by_itself():
    assert normalized([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert normalized([7.0]) == [1.0] and normalized([3.0, 3.0]) == [1.0, 1.0]
    assert normalized([]) == []


def test_a37_a_method_with_large_numbers_does_not_win_by_them():
    merged = merge({"bm25": [hit("a", 900.0), hit("b", 100.0)], "vector": [hit("b", 0.9, "vector"), hit("a", 0.1, "vector")]})

    assert order(merged) == [("a", 1.0), ("b", 1.0)]


def test_a37_a_source_gains_a_little_by_up_to_three_further_hits():
    further = [hit("a", 10.0, place=f"line {line}") for line in range(6)]
    found = [*further, hit("b", 10.0), hit("c", 0.0)]

    merged = merge({"bm25": found})

    assert [each.source for each in merged] == ["a", "b", "c"]
    # The best hit 1, further ones 0.15 * (1 + 1/2 + 1/3), spread over 0..1 by the strongest source.
    assert merged[1].score == pytest.approx(1 / 1.275)
    assert len(merged[0].hits) == 4


def test_a37_sources_are_told_apart_exactly():
    merged = merge({"bm25": [hit("root/a.md", 2.0), hit("root/A.md", 1.0), hit("root/a.md ", 1.5)]})

    assert len(merged) == 3


@pytest.mark.parametrize(("preference", "moved"), [(1.0, 0.25), (-1.0, -0.25), (50.0, 0.25), (-50.0, -0.25), (0.4, 0.1)])
def test_a37_memory_moves_a_rank_by_a_quarter_at_most(preference, moved):
    found = {"bm25": [hit("a", 3.0), hit("b", 2.0), hit("c", 1.0)]}

    plain = dict(order(merge(found)))
    nudged = dict(order(merge(found, preferences={"b": preference})))

    assert nudged["b"] - plain["b"] == pytest.approx(moved)
    assert (nudged["a"], nudged["c"]) == (plain["a"], plain["c"])


def test_a37_the_order_is_the_same_however_the_hits_come():
    dice = random.Random(5)
    names = ("bm25", "vector", "datasource")
    found = {name: [hit(f"s{n % 7}", float(n % 4), name, f"line {n}") for n in range(20)] for name in names}
    first = merge(found)

    for _ in range(20):
        shuffled = {name: dice.sample(found[name], 20) for name in dice.sample(names, 3)}
        assert merge(shuffled) == first


def test_a_passage_that_two_methods_found_is_shown_once():
    merged = merge({"bm25": [hit("a", 1.0)], "vector": [hit("a", 0.5, "vector")]})

    assert len(merged[0].hits) == 1 and merged[0].methods == ("bm25", "vector")


@pytest.fixture
def root(ground, tmp_path):
    indexing.forget_checks()
    (tmp_path / "returns.md").write_text("# Returns\n\nCustomers have 30 days.\n")
    (tmp_path / "photo.png").write_bytes(b"x")
    return DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(tmp_path))


@pytest.fixture
def only_these(monkeypatch):
    monkeypatch.setattr(methods, "_methods", dict(methods._methods))


def codes(found) -> set[str]:
    return {each.code for each in found.diagnostics}


def test_a37_a_method_that_fails_is_a_diagnostic_and_the_others_go_on(ground, root, only_these):
    def broken(thread, query, limit):
        raise RuntimeError(f"secret {query}")

    register_method("broken", broken)

    found = retrieve(ground.open("hello"), "customers")

    assert [each.source for each in found.results] == ["handbook/returns.md"]
    assert "retrieval-method-failed" in codes(found)
    assert not any("secret" in each.message or "customers" in each.message for each in found.diagnostics)


def test_a_method_that_is_off_is_reported_and_no_failure(ground, root, monkeypatch):
    monkeypatch.setattr(vectors, "_embedder", lambda: None)

    found = retrieve(ground.open("hello"), "customers", methods=["bm25", "vector"])

    off = next(each for each in found.diagnostics if each.code == "minsync-unavailable")
    assert (off.severity, off.source) == ("info", "vector")
    assert found.results[0].methods == ("bm25",)
    with pytest.raises(CodedError, match="off"):
        vectors.find_by_meaning([root], "customers", 3)


def test_an_empty_query_asks_no_method(ground, root):
    found = retrieve(ground.open("hello"), "  ")

    assert found.results == () and codes(found) == {"empty-query"}


def test_s10_no_method_sees_another_teams_documents(ground, root):
    root.tenant = ground.bears
    root.save()

    found = retrieve(ground.open("hello"), "customers", methods=["bm25"])

    assert found.results == () and found.diagnostics == ()


def test_what_an_index_lacks_is_among_the_diagnostics(ground, root, tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"x")
    indexing.index_root(root)

    found = retrieve(ground.open("hello"), "customers", methods=["bm25"])

    assert codes(found) == {"parser-failed", "unsupported-file"}
    assert {"bm25", "vector"} <= set(method_names())
