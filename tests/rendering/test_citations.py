"""Numbers in brackets lead to results that exist, and to nothing else; the sanitiser sees everything a model wrote."""

import pytest

from assistants.rendering.citations import Citation
from assistants.rendering.markdown import render_markdown

RESULTS = {1: Citation("rabc-1", "Refund times"), 2: Citation("rabc-2", 'A "title" <b>of</b> theirs')}


def link(number: int, title: str) -> str:
    return f'<a class="cite" href="#rabc-{number}" aria-label="Result {number}: {title}">{number}</a>'


ONE = link(1, "Refund times")
TWO = link(2, "A &quot;title&quot; &lt;b&gt;of&lt;/b&gt; theirs")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Five days [1].", f"<p>Five days [{ONE}].</p>"),
        ("Both [1, 2]; and [2–1].", f"<p>Both [{ONE}, {TWO}]; and [{TWO}–{ONE}].</p>"),
        ("Known [1, 9], unknown [9].", f"<p>Known [{ONE}, 9], unknown [9].</p>"),
        ("**Bold [1]**", f"<p><strong>Bold [{ONE}]</strong></p>"),
        ("> quoted [1]", f"<blockquote>\n<p>quoted [{ONE}]</p>\n</blockquote>"),
        # A document can't cite for the answer that quotes it.
        ("> so [1], said it [1] [1]", f"<blockquote>\n<p>so [1], said it [{ONE}] [{ONE}]</p>\n</blockquote>"),
        ("> see [1]\n>\n> there [1] too.", "<blockquote>\n<p>see [1]</p>\n<p>there [1] too.</p>\n</blockquote>"),
        ("- > in a list [1] x", "<ul>\n<li><blockquote>\n<p>in a list [1] x</p>\n</blockquote>\n</li>\n</ul>"),
        ("`a[1]` and x[1]", f"<p><code>a[1]</code> and x[{ONE}]</p>"),
    ],
)
def test_a_number_that_exists_becomes_a_link_to_its_result(text: str, html: str) -> None:
    assert render_markdown(text, RESULTS).strip() == html


@pytest.mark.parametrize("text", ["```\na[1]\n```", "    a[1]", "[see [1]](https://example.org/)", "$x_{[1]}$"])
def test_code_links_and_formulas_keep_their_brackets(text: str) -> None:
    assert "rabc-1" not in render_markdown(text, RESULTS)


def test_without_results_nothing_changes() -> None:
    assert render_markdown("Five days [1].") == render_markdown("Five days [1].", {}) == "<p>Five days [1].</p>\n"


def test_s18_a_text_cannot_write_such_a_link_itself() -> None:
    html = render_markdown('<a class="cite" href="#rabc-1">1</a> [1]', {7: RESULTS[1]})

    assert "<a" not in html
