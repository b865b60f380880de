"""Documents are cut into passages that hold their lines word for word."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.documents.passages import LONGEST, cut_passages, split_line

SENTENCE = "The zipper of the Fjell 30 comes from Aalborg and takes four weeks. "


def section(title, length):
    return f"## {title}\n\n{SENTENCE * (length // len(SENTENCE))}\n\n"


def test_a_passage_holds_exactly_the_lines_it_names():
    text = "# Title\n\n" + section("One", 700) + section("Two", 700) + "- a\n- b\n"
    lines = text.split("\n")

    for cut in cut_passages(text, markup=True):
        assert cut.text == "\n".join(lines[cut.first - 1 : cut.last])


def test_long_sections_are_passages_of_their_own_under_their_heading():
    cuts = cut_passages("# Title\n\n" + section("One", 800) + section("Two", 800), markup=True)

    assert [cut.heading for cut in cuts] == ["One", "Two"]
    assert cuts[0].text.startswith("# Title\n\n## One")


def test_short_sections_go_together():
    cuts = cut_passages("# Title\n\n" + "".join(section(name, 150) for name in "ABCDEFGH"), markup=True)

    assert len(cuts) == 2
    assert 600 <= len(cuts[0].text) <= LONGEST
    assert cuts[0].heading == "A"


def test_a_second_title_begins_a_new_passage():
    cuts = cut_passages("# One\n\nshort\n\n# Two\n\nshort\n", markup=True)

    assert [cut.heading for cut in cuts] == ["One", "Two"]


def test_a_long_section_keeps_its_heading_in_every_passage():
    paragraphs = "\n\n".join([SENTENCE * 8] * 6)

    cuts = cut_passages(f"## Long one\n\n{paragraphs}\n", markup=True)

    assert len(cuts) == 3
    assert {cut.heading for cut in cuts} == {"Long one"}


def test_a_line_that_is_too_long_is_cut_at_sentences():
    text = "short\n\n" + SENTENCE * 60

    cuts = cut_passages(text, markup=True)

    assert all(cut.first == cut.last == 3 for cut in cuts[1:])
    assert all(cut.text.endswith("weeks.") and len(cut.text) <= LONGEST for cut in cuts[1:])
    assert " ".join(cut.text for cut in cuts[1:]) == (SENTENCE * 60).strip()


def test_a_comment_in_a_program_is_no_heading():
    cuts = cut_passages("# not a heading\nx = 1\n\n# nor this\ny = 2\n", markup=False)

    assert [(cut.first, cut.last, cut.heading) for cut in cuts] == [(1, 5, "")]


def test_a_mark_inside_of_code_is_no_heading():
    cuts = cut_passages("## Run it\n\n```\n# comment\n\n## more\n```\n\ndone\n", markup=True)

    assert [cut.heading for cut in cuts] == ["Run it"]


def test_underlined_titles_are_headings():
    rst = "Title\n=====\n\nIntro.\n\nPart one\n--------\n\n" + SENTENCE * 12 + "\n\nPart two\n~~~~~~~~\n\n" + SENTENCE * 12

    assert [cut.heading for cut in cut_passages(rst, markup=True)] == ["Part one", "Part two"]


def test_front_matter_and_tables_are_no_headings():
    cuts = cut_passages("---\ntitle: x\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n\n---\n\nmore\n", markup=True)

    assert [(cut.first, cut.last, cut.heading) for cut in cuts] == [(1, 13, "")]


def test_blank_texts_have_no_passages():
    assert cut_passages("", markup=True) == cut_passages("\n \n\n", markup=False) == []


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["", " ", "# H", "### Deep", "word", "- item", "```", "===", "---", "| a | b |", "x" * 700, "y z. " * 400]
        ),
        max_size=40,
    ),
    st.booleans(),
)
def test_nothing_is_lost_or_said_twice(lines, markup):
    cuts = cut_passages("\n".join(lines), markup=markup)

    whole = [cut for cut in cuts if len(lines[cut.first - 1]) <= LONGEST]
    covered = [number for cut in whole for number in range(cut.first, cut.last + 1)]
    assert covered == sorted(set(covered))
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            parts = [cut.text for cut in cuts if cut.first == cut.last == number]
            assert "".join("".join(parts).split()) == "".join(line.split())
        elif line.strip():
            assert number in covered
    assert all(cut.text == "\n".join(lines[cut.first - 1 : cut.last]) for cut in whole)


def test_a_line_without_blanks_is_cut_anyway():
    assert [len(part) for part in split_line("x" * 3000)] == [1200, 1200, 600]


@pytest.mark.parametrize(
    "piece", ["# a\n", "```\n", "x\n", "x\n\n", "=\n", "x\n===\n", "#" * 6 + " " * 900 + "\n", "a. ", "x", "- b\n"]
)
@pytest.mark.parametrize("markup", [True, False])
def test_s37_cutting_takes_time_in_proportion_to_the_length(piece, markup):
    text = piece * (200_000 // len(piece))
    started = time.process_time()

    cuts = cut_passages(text, markup=markup)

    assert time.process_time() - started < 5
    assert max(len(cut.text) for cut in cuts) < 5 * LONGEST or "```" in piece
