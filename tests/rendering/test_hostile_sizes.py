"""Any text is rendered in time, or shown as plain text."""

from time import thread_time

import pytest

from assistants.rendering.deadline import Deadline, RenderTimeout
from assistants.rendering.markdown import MAX_MARKDOWN_CHARS, render_markdown
from assistants.rendering.plain import render_plain
from assistants.rendering.stream import MarkdownStream
from tests.rendering.liveness import faults

REPEATED = [
    "[",
    "`",
    "![",
    "*",
    "|",
    "&",
    "<",
    "\"'",
    "> ",
    "- ",
    "$",
    "\\(",
    "_a__",
    "[![",
    "mailto:a@b",
    "$$a\n\n",
    "a\n---\n",
    "😀",
]


def test_the_known_worst_case_is_rendered_in_time_s37() -> None:
    started = thread_time()

    html = render_markdown("![" * 40_000)

    assert thread_time() - started < 2
    assert html.count("![") == 40_000


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_megabyte_of_anything_is_shown_in_time_s37(repeated: str) -> None:
    text = repeated * (1024 * 1024 // len(repeated))
    started = thread_time()

    html = render_markdown(text)

    assert thread_time() - started < 2
    assert html == render_plain(text)


@pytest.mark.parametrize("repeated", REPEATED)
def test_as_much_as_is_rendered_at_all_is_rendered_in_time_s37(repeated: str) -> None:
    text = (repeated * MAX_MARKDOWN_CHARS)[:MAX_MARKDOWN_CHARS]
    started = thread_time()

    html = render_markdown(text)

    assert thread_time() - started < 2
    assert faults(html) == []


def test_an_update_that_takes_too_long_goes_on_as_plain_text() -> None:
    text = "[![" * 60_000
    stream = MarkdownStream()

    stream.update(text)
    first = stream.seconds
    stream.update(text + "more")

    assert first < 0.6
    assert stream.seconds < 0.05
    assert "".join([*stream.blocks, stream.tail]) == render_plain(text + "more")


def test_a_budget_counts_the_work_of_its_thread_only() -> None:
    deadline = Deadline(0.01)
    deadline.check()

    with pytest.raises(RenderTimeout):
        while True:
            deadline.tick()


def test_ordinary_text_of_100_kb_is_rendered_within_the_budget_s37() -> None:
    text = "## Part\n\nSome **words** with `code` and a [link](http://a.example).\n\n- one\n- two\n\n" * 1200

    # Whoever shares a core may be slowed down once, and not three times in a row.
    assert any(render_markdown(text[: 100 * 1024]).startswith("<h2>") for _ in range(3))


def test_one_long_pause_does_not_use_up_a_budget() -> None:
    deadline = Deadline(0.1)
    paused = thread_time()
    while thread_time() - paused < 0.12:
        pass

    deadline.check()
