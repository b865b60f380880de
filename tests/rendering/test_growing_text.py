"""A message that grows: the same as a whole one, each block once, for any number of readers."""

import re
from itertools import pairwise
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.rendering.markdown import MAX_MARKDOWN_CHARS, render_markdown
from assistants.rendering.stream import Cursor, MarkdownStream
from tests.rendering.liveness import faults
from tests.rendering.payloads import PAYLOADS

PIECES = [
    *("a", "b c", "# ", "## h", "- ", "* ", "+ ", "1. ", "2) ", "> ", "    ", "  ", "\t", "- [ ] ", "- [x] ", "x", "=", ":"),
    *(
        "\n",
        "\n",
        "\n\n",
        "\n\n",
        "\r\n",
        "\r",
        "```",
        "```py",
        "~~~",
        "````",
        "---",
        "***",
        "===",
        "|",
        "a|b",
        "|-|-|",
        "--|--",
    ),
    *("$$", "$$\n", "\\[", "\\]", "\\(", "\\)", "$x$", "$5", "$", "*", "**", "_", "`", "``", "[", "]", "(", ")", "![", "\\"),
    *("[a](http://b.example)", "![a](http://b.example)", "[a]", "http://x.example", "www.x.example", "a@b.example", "&amp;"),
    *("<", "<b>", "\xa0", "é", "😀", "\ud83d", "\0"),
]
ANSWER = "# Plan\n\nSome *words*.\n\n- one\n- two\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.\n"


def shown(stream: MarkdownStream) -> str:
    return "".join([*stream.blocks, stream.tail])


def without_space(html: str) -> str:
    return re.sub(r"\s+", "", html)


def grow(text: str, cuts: list[int]) -> tuple[MarkdownStream, dict[int, str]]:
    """Streams a text in pieces to one reader; returns the stream and the reader's page."""
    stream, cursor, page = MarkdownStream(), Cursor(), {}
    for end in [*sorted(cuts), len(text)]:
        stream.update(text[:end])
        frames, cursor = stream.frames(cursor)
        page |= dict(frames)
    return stream, page


@st.composite
def texts_with_cuts(draw: st.DrawFn) -> tuple[str, list[int]]:
    pieces = st.one_of(st.sampled_from(PIECES), st.sampled_from(PIECES), st.sampled_from(PAYLOADS), st.text(max_size=5))
    text = "".join(draw(st.lists(pieces, max_size=40)))
    # The known exception: a block that is finished does not learn of a link reference that is defined after it.
    text = re.sub(r"\]\s*:", "] ", text)
    return text, draw(st.lists(st.integers(0, len(text)), max_size=30))


@settings(max_examples=300, deadline=None, database=None)
@given(texts_with_cuts())
def test_a_message_that_grew_equals_one_that_was_rendered_whole_s19(case: tuple[str, list[int]]) -> None:
    text, cuts = case

    stream, page = grow(text, cuts)

    assert without_space(shown(stream)) == without_space(render_markdown(text))
    assert "".join(page[number] for number in sorted(page)) == shown(stream)
    assert faults(shown(stream)) == []


def test_a_message_that_grew_by_single_characters_equals_one_that_was_rendered_whole() -> None:
    text = "\n\n".join(payload for payload in PAYLOADS if "]: " not in payload and not payload.startswith("```html\n<s"))

    stream, page = grow(text, list(range(len(text))))

    assert shown(stream).split() == render_markdown(text).split()
    assert "".join(page.values()) == shown(stream)


def test_a_link_reference_that_comes_late_is_the_known_exception() -> None:
    text = "see [x]\n\nmore\n\n[x]: http://a.example\n"

    stream, _ = grow(text, list(range(len(text))))

    assert "[x]" in stream.blocks[0]
    assert '<a href="http://a.example"' in render_markdown(text)


def test_a_link_reference_that_comes_first_is_known_to_every_later_block() -> None:
    text = "[x]: http://a.example\n\nsee [x]\n\nagain [x]\n\nand [x]"

    stream, _ = grow(text, list(range(len(text))))

    assert shown(stream).split() == render_markdown(text).split()
    assert shown(stream).count("<a ") == 3


def test_a_finished_block_is_handed_out_once_and_the_growing_one_again() -> None:
    stream, cursor, handed_out = MarkdownStream(), Cursor(), []

    for end in range(len(ANSWER) + 1):
        stream.update(ANSWER[:end])
        finished = len(stream.blocks)
        frames, cursor = stream.frames(cursor)
        handed_out += [(finished, number) for number, _ in frames]

    assert len(stream.blocks) == 5
    # Its last line end closes a block without changing it, so a block that is finished is never among the frames again.
    assert all(number >= finished - 1 for finished, number in handed_out)
    assert stream.frames(cursor)[0] == []


def test_every_reader_has_a_cursor_of_its_own() -> None:
    stream, early = MarkdownStream(), Cursor()
    stream.update(ANSWER[:40])
    first, early = stream.frames(early)
    stream.update(ANSWER)

    second, _ = stream.frames(early)
    late, _ = stream.frames(Cursor())

    assert "".join((dict(first) | dict(second)).values()) == shown(stream)
    assert "".join(dict(late).values()) == shown(stream)
    assert [number for number, _ in late] == list(range(6))


def test_a_new_attempt_takes_the_place_of_the_last_one() -> None:
    stream = MarkdownStream()
    stream.update(ANSWER)
    frames, cursor = stream.frames(Cursor())
    page = dict(frames)

    stream.update("# Plan\n\nOther words.")
    frames, cursor = stream.frames(cursor)

    assert [number for number, _ in frames] == [1, 2, 3, 4, 5]
    assert "".join((page | dict(frames)).values()) == shown(stream) == render_markdown("# Plan\n\nOther words.")


@pytest.mark.parametrize("text", ["", "\n", "[a]: http://b.example", "[a]:"])
def test_a_message_may_become_nothing(text: str) -> None:
    stream, page = grow(text, [])
    stream.update("words")
    stream.update(text)

    frames, _ = stream.frames(Cursor())

    assert shown(stream) == render_markdown(text) == "".join(html for _, html in frames)


def test_paragraphs_do_not_wait_for_the_next_one_to_be_finished() -> None:
    stream = MarkdownStream()

    stream.update("one\n\ntwo\n\n- three\n\nfour")

    assert [len(stream.blocks), stream.tail] == [3, "<p>four</p>\n"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n***", "a\n***b***"),
        ("a\n---", "a\n--- b"),
        ("a\n\n- b\n\n-", "a\n\n- b\n\n-c"),
        ("a | b\n- | -", "a | b\n- | - x"),
        ("a\nb | c\n--|--", "a\nb | c\n--|--x"),
        ("# a | b\n", "# a | b\n---|---\n"),
        ("$$\nx\n- y\n", "$$\nx\n- y\n$$"),
        ("```\nx\n```", "```\nx\n```y"),
        ("    a\n\n", "    a\n\n    b"),
        ('[a]: http://b.example\n"title', '[a]: http://b.example\n"title"\n\n[a]'),
    ],
)
def test_a_line_that_is_not_complete_decides_nothing(before: str, after: str) -> None:
    stream = MarkdownStream()

    stream.update(before)
    stream.update(after)

    assert shown(stream).split() == render_markdown(after).split()


def test_text_above_200_kb_goes_on_as_plain_text_d9() -> None:
    text = "**word** <b>\n" * (MAX_MARKDOWN_CHARS // 13 + 2000)
    stream, cursor, page, sent = MarkdownStream(), Cursor(), {}, 0

    for end in range(MAX_MARKDOWN_CHARS - 1000, len(text) + 1000, 1000):
        stream.update(text[:end])
        frames, cursor = stream.frames(cursor)
        page |= dict(frames)
        sent = sent + sum(len(html) for _, html in frames) if end > MAX_MARKDOWN_CHARS + 1000 else 0

    assert shown(stream) == render_markdown(text) == "".join(page[number] for number in sorted(page))
    assert sent < 20 * (len(text) - MAX_MARKDOWN_CHARS)


def test_readers_in_other_threads_miss_nothing() -> None:
    stream, pages = MarkdownStream(), [{} for _ in range(4)]
    done = False

    def read(page: dict[int, str]) -> None:
        cursor, last = Cursor(), False
        while not last:
            last = done
            frames, cursor = stream.frames(cursor)
            page |= dict(frames)

    readers = [Thread(target=read, args=[page]) for page in pages]
    for reader in readers:
        reader.start()
    for end in range(0, 10 * len(ANSWER), 3):
        stream.update((ANSWER * 10)[:end])
    stream.update(ANSWER * 10)
    done = True
    for reader in readers:
        reader.join()

    assert ["".join(page[number] for number in sorted(page)) for page in pages] == [shown(stream)] * 4


def test_a_growing_answer_costs_well_under_one_percent_of_a_core() -> None:
    paragraph = "The **answer** goes on with `code`, a [link](http://a.example) and $x^2$, " * 6
    code = "```python\n" + "def f(x: int) -> int:\n    return x + 1  # why\n" * 8 + "```"
    listing = "\n".join(f"- {paragraph[:90]}" for _ in range(6))
    text = "\n\n".join([f"## Part\n\n{paragraph}\n\n{listing}\n\n{code}"] * 15)
    stream, cursor, seconds = MarkdownStream(), Cursor(), 0.0

    for end in range(40, len(text) + 40, 40):
        stream.update(text[:end])
        _, cursor = stream.frames(cursor)
        seconds += stream.seconds

    # 400 characters a second, ten updates a second.
    assert len(text) > 20_000
    assert seconds / (len(text) / 400) < 0.008


def test_an_update_of_a_long_list_does_not_parse_its_finished_lines_again() -> None:
    text = "\n".join(f"- **item {n}** with `code` and a [link](http://a.example/{n}) and more words" for n in range(300))
    stream, seconds = MarkdownStream(), []

    for end in range(19_000, len(text[:20_000]), 40):
        stream.update(text[:end])
        seconds.append(stream.seconds)

    assert len(seconds) > 20
    assert sorted(seconds[1:])[len(seconds) // 2] < seconds[0] / 2


def test_pieces_of_one_character_never_shrink_what_is_finished() -> None:
    stream, counts = MarkdownStream(), []

    for end in range(len(ANSWER) + 1):
        stream.update(ANSWER[:end])
        counts.append(len(stream.blocks))

    assert all(a <= b for a, b in pairwise(counts))
