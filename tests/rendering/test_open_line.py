"""Words that follow on a line of prose are sent alone: the page they grow to is the same."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.rendering.readers import Addition
from assistants.rendering.stream import Cursor, MarkdownStream
from tests.rendering.test_growing_text import shown, texts_with_cuts, without_space

ENDS = re.compile(r"(?:\s*</(?:p|li|ul|ol|h[1-6]|blockquote)>)+\s*\Z")


def read(pieces: list[str]) -> tuple[MarkdownStream, dict[int, str], list[str]]:
    """Streams the pieces to a reader of additions; returns the stream, the reader's page and all that was sent."""
    stream, cursor, page, sent = MarkdownStream(), Cursor(), {}, []
    for end in range(1, len(pieces) + 1):
        stream.update("".join(pieces[:end]))
        frames, cursor = stream.frames(cursor, additions=True)
        for number, html in frames:
            sent.append(html.text if isinstance(html, Addition) else html)
            page[number] = add(page[number], html) if isinstance(html, Addition) else html
    return stream, page, sent


def add(block: str, addition: Addition) -> str:
    at = block.rindex("</code>") if addition.is_code else ENDS.search(block).start()
    return block[:at] + addition + block[at:]


@settings(max_examples=300, deadline=None, database=None)
@given(texts_with_cuts(), st.lists(st.sampled_from(["word ", " two", "a, b", "9", " ", "é", "\n", "- x", "*"]), max_size=6))
def test_a_page_of_additions_equals_the_page_s19(case: tuple[str, list[int]], more: list[str]) -> None:
    text, cuts = case
    cuts = sorted({0, *cuts, len(text)})

    stream, page, _ = read([*(text[a:b] for a, b in zip(cuts, cuts[1:], strict=False)), *more])

    assert without_space("".join(page[number] for number in sorted(page))) == without_space(shown(stream))


@pytest.mark.parametrize(
    "start", ["Some words", "- one\n- two words", "> quoted words", "## A heading", "1. one\n\n   more words"]
)
def test_words_at_the_end_of_a_line_are_sent_alone(start: str) -> None:
    words = [f" word{number}" for number in range(50)]

    stream, page, sent = read([start, *words])

    assert sent[2:] == words[1:]
    assert without_space("".join(page.values())) == without_space(shown(stream))


@pytest.mark.parametrize(
    ("start", "more"),
    [
        ("Some words", "*"),
        ("Some words", "\n\nNext"),
        ("1", ". one"),
        ("www", ".a.example"),
        ("some", "body@a.example"),
        ("a\n-", "-"),
        ("_a_", "b"),
        ("[a]: b", "c"),
        ("| a |\n|---|\n| b", "c"),
        ("words `code", "more`"),
    ],
)
def test_what_may_mean_more_than_words_is_drawn_anew(start: str, more: str) -> None:
    stream, page, sent = read([start, more])

    assert more not in sent
    assert without_space("".join(page.values())) == without_space(shown(stream))


def test_a_reader_who_comes_in_between_two_words_misses_no_space() -> None:
    stream = MarkdownStream()
    pieces = ["word", " by ", "word", " ", " ", "by", ", and ", "on"]
    pages = []
    for end in range(1, len(pieces) + 1):
        stream.update("".join(pieces[:end]))
        # One more reader at every step; all of them take what follows as additions.
        pages.append(({}, Cursor()))
        for number, (page, cursor) in enumerate(pages):
            frames, seen = stream.frames(cursor, additions=True)
            for block, html in frames:
                page[block] = add(page[block], html) if isinstance(html, Addition) else html
            pages[number] = page, seen

    assert {"".join(page.values()).strip() for page, _ in pages} == {"<p>word by word  by, and on</p>"}
