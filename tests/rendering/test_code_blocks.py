"""Code blocks: framed, highlighted when closed, cheap while they grow."""

import inspect
import random
from time import thread_time

import pytest

from assistants.rendering.code import LANGUAGE_CHARS, MAX_HIGHLIGHT_CHARS, highlight, load_languages
from assistants.rendering.languages import LANGUAGES
from assistants.rendering.markdown import render_markdown
from assistants.rendering.readers import Addition
from assistants.rendering.stream import Cursor, MarkdownStream
from tests.rendering.liveness import faults

LINES = (inspect.getsource(random).splitlines() * 5)[:2000]


def test_a_code_block_has_its_language_and_a_copy_button() -> None:
    html = render_markdown("```python\nx = 1\n```")

    assert '<span class="code-language">python</span>' in html
    assert '<button type="button" class="copy" data-copy>' in html
    assert '<span class="n">x</span>' in html
    assert "style" not in html


@pytest.mark.parametrize("language", ["", "mermaid", "klingon", "katex", "<script>", "../../x", "x" * 100])
def test_code_in_an_unknown_language_is_plain_s22(language: str) -> None:
    html = render_markdown(f"```{language}\n<b>graph</b> TD\n```")

    assert '<code class="highlight">&lt;b&gt;graph&lt;/b&gt; TD</code>' in html
    assert faults(html) == []
    assert max(map(len, html.split('code-language">')[1].split("<")[:1])) <= LANGUAGE_CHARS


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_of_the_list_is_highlighted(language: str) -> None:
    code = "if (x == 1) { return \"a\"; } # <b>\nlet y = 'c' // &\n"

    html = highlight(code, language.upper())

    assert html is not None
    assert faults(f"<pre>{html}</pre>") == []


def test_languages_can_be_loaded_before_anybody_waits_for_them() -> None:
    load_languages()
    started = thread_time()

    highlight("val x = 1 // first use", "scala")

    assert thread_time() - started < 0.02


def test_code_that_is_not_closed_is_plain_x7() -> None:
    assert '<code class="highlight">x = 1</code>' in render_markdown("```python\nx = 1\n")


def test_code_that_is_too_big_or_too_wide_is_plain_s37() -> None:
    assert highlight("x = 1\n" * (MAX_HIGHLIGHT_CHARS // 6 + 1), "python") is None
    assert highlight("x" * 5000, "python") is None


def test_code_in_a_list_is_framed_in_its_item() -> None:
    html = render_markdown("1. do\n\n   ```sh\n   ls\n   ```\n2. done")

    assert faults(html) == []
    assert html.index("<li>") < html.index('class="code"') < html.index("</li>")


def test_report_x7_two_thousand_lines_of_code_are_streamed_without_a_long_step() -> None:
    code = "```python\n" + "\n".join(LINES) + "\n```\n\nDone.\n"
    stream, seconds = MarkdownStream(), []
    ends = [*range(0, len(code), 200), len(code)]

    for end in ends:
        stream.update(code[:end])
        seconds.append(stream.seconds)
    while stream.is_behind:
        stream.update(code)
        seconds.append(stream.seconds)

    assert max(seconds) < 0.05
    assert sum(seconds) / len(seconds) < 0.005
    assert "".join([*stream.blocks, stream.tail]) == render_markdown(code)
    assert stream.blocks[0].count("<span") > 5000


def test_growing_code_can_be_handed_out_as_additions() -> None:
    code = "Here:\n\n```python\n" + "\n".join(LINES) + "\n```\n"
    stream, cursor, page, sent = MarkdownStream(), Cursor(), {}, 0

    for end in range(0, len(code) - 5, 500):
        stream.update(code[:end])
        frames, cursor = stream.frames(cursor, additions=True)
        sent += sum(len(html) for _, html in frames)
        for number, html in frames:
            at = page.get(number, "").rfind("</code>")
            page[number] = page[number][:at] + html + page[number][at:] if isinstance(html, Addition) else html

        assert "".join(page[number] for number in sorted(page)) == "".join([*stream.blocks, stream.tail])

    assert sent < 3 * len(code)
