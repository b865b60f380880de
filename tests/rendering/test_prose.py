"""What ordinary Markdown looks like."""

import pytest

from assistants.rendering.markdown import MAX_MARKDOWN_CHARS, render_markdown
from assistants.rendering.plain import CHUNK_CHARS, chunk_ends, render_plain


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# a\n\nb *c* **d** ~~e~~ `f`", "<h1>a</h1>\n<p>b <em>c</em> <strong>d</strong> <s>e</s> <code>f</code></p>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>\n"),
        ("a  \nb\n\n---", "<p>a<br>\nb</p>\n<hr>\n"),
        ("a < b & c", "<p>a &lt; b &amp; c</p>\n"),
        ("- [x] a\n- [ ] b", '<ul class="contains-task-list">\n<li class="task">☑ a</li>\n<li class="task">☐ b</li>\n</ul>\n'),
        (
            "- [x] a\n\n- [ ] b",
            '<ul class="contains-task-list">\n<li class="task"><p>☑ a</p>\n</li>\n<li class="task"><p>☐ b</p>\n</li>\n</ul>\n',
        ),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert render_markdown(text) == html


def test_a_table_is_aligned_by_classes() -> None:
    html = render_markdown("| a | b | c |\n|:--|--:|---|\n| 1 | 2 | 3 |")

    assert '<th class="align-left">a</th>' in html
    assert '<td class="align-right">2</td>' in html
    assert "<td>3</td>" in html


@pytest.mark.parametrize("text", ["", " ", "\n\n", "[a]: http://b.example"])
def test_nothing_is_shown_for_nothing(text: str) -> None:
    assert render_markdown(text) == ""


@pytest.mark.parametrize("text", ["a\ud800b", "\udc00", "a\0b", "\ud83d\ude00", "a\r\nb\rc"])
def test_any_string_can_be_sent_to_a_browser(text: str) -> None:
    assert render_markdown(text).encode()
    assert render_plain(text).encode()


def test_two_halves_of_a_character_are_joined() -> None:
    assert render_plain("\ud83d\ude00") == '<div class="plain">😀</div>'


@pytest.mark.parametrize(
    "text", ["/// <summary>\n/// <b>x</b> & y\n/// </summary>", "  a\n\n\n  *b*  ", "<a href='x'>", "# no heading", "$x$"]
)
def test_report_x5_a_persons_own_text_is_shown_as_typed(text: str) -> None:
    html = render_plain(text)

    inner = html.removeprefix('<div class="plain">').removesuffix("</div>")
    unescaped = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&#x27;", "'")
    assert unescaped.replace("&amp;", "&") == text


def test_a_message_above_200_kb_is_shown_as_plain_text_d9() -> None:
    text = "**a** <b>\n" * (MAX_MARKDOWN_CHARS // 10 + 1)

    html = render_markdown(text)

    assert html == render_plain(text)
    assert html.count("**a** &lt;b&gt;") == len(text) // 10


def test_plain_text_is_cut_after_lines_and_never_loses_any() -> None:
    text = ("x" * 99 + "\n") * 500 + "y" * 50_000

    ends = chunk_ends(text)

    assert [text[end - 1] for end in ends[:6]] == ["\n"] * 6
    assert all(CHUNK_CHARS <= b - a <= 2 * CHUNK_CHARS for a, b in zip([0, *ends], ends, strict=False))
    assert chunk_ends(text[:30_000]) == [end for end in ends if end <= 30_000][: len(chunk_ends(text[:30_000]))]
