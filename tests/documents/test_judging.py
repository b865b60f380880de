"""Answers that a reader accepted beside the known one: what is put down to be read, and how they count."""

from pathlib import Path

import pytest

from bench import pool, questions, retrieval
from bench.questions import Question
from bench.rivals import Indexed

ASKED = Question("later", "a.md", "How do I open it?", "turn the key", also=("pull the lever",))
KEY, LEVER, NEITHER, HIDDEN = ("To open it turn\nthe key.", "Or pull the   lever.", "It is green.", "It is heavy.")
PASSAGES = [Indexed(f"{number}.md", text, "", "") for number, text in enumerate((KEY, LEVER, NEITHER, HIDDEN))]


def test_only_what_a_missing_engine_shows_is_put_down_without_who_showed_it() -> None:
    engines = {"finds it": lambda query: [[HIDDEN], [KEY]], "misses it": lambda query: [[LEVER, NEITHER]]}
    pooled = "\n".join(pool.pool(PASSAGES, engines, [ASKED]))
    assert "Or pull the lever." in pooled and "It is green." in pooled
    assert "heavy" not in pooled and "the key." not in pooled and "misses it" not in pooled


def test_what_was_read_is_not_put_down_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read = tmp_path / "read.tsv"
    read.write_text("question\tpassages\n")
    monkeypatch.setattr(pool, "READ", read)
    engines = {"one": lambda query: [[LEVER], [NEITHER]]}
    (tmp_path / "pool.txt").write_text("\n".join(pool.pool(PASSAGES, engines, [ASKED])))
    pool.note_read(tmp_path / "pool.txt")
    assert list(pool.pool(PASSAGES, engines, [ASKED])) == []
    engines["another"] = lambda query: [[HIDDEN]]
    assert "heavy" in "\n".join(pool.pool(PASSAGES, engines, [ASKED]))


def test_an_accepted_passage_counts_in_the_judged_recall_only() -> None:
    figures = retrieval.judge(lambda query: [[NEITHER], [LEVER]], [ASKED], missed=False)
    assert (figures["recall_at_10"], figures["judged_recall_at_10"]) == (0.0, 1.0)


def test_a_phrase_that_stands_in_many_passages_counts_neither_as_known_nor_as_accepted() -> None:
    often = [Indexed("b.md", "pull the lever", "", "")] * 4
    (kept,) = retrieval.answerable([*PASSAGES, *often], [ASKED])
    assert kept.also == ()
    assert retrieval.answerable(often, [ASKED]) == []


def test_every_accepted_phrase_and_every_read_passage_belongs_to_a_question() -> None:
    asked = {each.question for each in questions.read_questions()}
    accepted = questions.rows_of(questions.JUDGED)
    assert accepted and {row[0] for row in accepted} <= asked
    read = pool.read_before()
    assert read.keys() <= asked and {row[0] for row in accepted} <= read.keys()
