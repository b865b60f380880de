"""Formulas are drawn, prices are not, and bad LaTeX shows its source."""

import pytest

from assistants.rendering.formulas import draw_formula
from assistants.rendering.markdown import render_markdown
from tests.rendering.liveness import faults


def test_report_x4_prices_stay_text() -> None:
    html = render_markdown("costs $5 and $10, **$1.50**")

    assert html == "<p>costs $5 and $10, <strong>$1.50</strong></p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "between $5 and $10",
        "$5-$10 or $5/$10",
        "US$5 or 10$ each",
        "$5 or 10$",
        "5$ and 10$",
        "$1,000.50 to $2,000",
        "($5)($6)",
        "$5, $6 and $7.",
        "**$5** vs **$6**",
        "$HOME and $PATH",
        "$PATH:$HOME/bin",
        "A$5 NZ$6",
        "$ 5 and 6 $",
        "$$$ cheap $$$",
        "\\$x\\$",
        "pay $5\nor $6",
        "| $5 | $6 |",
    ],
)
def test_money_and_variables_are_no_formulas_x4(text: str) -> None:
    assert "<math" not in render_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "$x$",
        "$x^2$",
        "$2x$",
        "$2\\pi r$",
        "the $i$th one",
        "$a$, $b$ and $c$",
        "\\(x\\)",
        "\\( x_1 \\)",
        "\\[x^2\\]",
        "see \\[ x \\] there",
        "$$x$$",
        "see $$x + 1$$ there",
        "$$\nx = 1\n- y\n$$",
        "\\[\nx = 1\n\\]",
        "where:\n$$\nx\n$$\nholds",
        "- one\n  $$\n  x\n  $$",
        "> $$x$$",
        "| $x$ | $5 |\n|--|--|\n| $y$ | $6 |",
        "costs $5, that is \\(x\\)",
    ],
)
def test_a_formula_is_drawn_as_mathml_x4(text: str) -> None:
    html = render_markdown(text)

    assert "<math" in html
    assert faults(html) == []


@pytest.mark.parametrize(
    "text", ["\\[1\\]", "\\[draft\\] x", "\\[x y\\](http://a.example)", "a\\(b", "\\[ open", "\\( open", "\\[\\]"]
)
def test_escaped_brackets_are_brackets(text: str) -> None:
    assert "<math" not in render_markdown(text)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("$\\frac{1}{$", "$\\frac{1}{$"),
        ("\\(\\nonsense\\)", "\\(\\nonsense\\)"),
        ("$$\n\\begin{matrix} 1 & 2\n$$", "\\begin{matrix} 1 &amp; 2"),
        ("\\[ \\left( x \\]", "\\left( x"),
        ("$a & b_1$", "$a &amp; b_1$"),
    ],
)
def test_bad_latex_shows_its_source(text: str, source: str) -> None:
    html = render_markdown(text)

    assert source in html
    assert "<math" not in html
    assert faults(html) == []


def test_a_formula_that_is_not_closed_is_a_paragraph() -> None:
    assert render_markdown("$$\nx = **1**\n\nnext") == "<p>$$\nx = <strong>1</strong></p>\n<p>next</p>\n"


@pytest.mark.parametrize(
    "latex",
    ["{" * 6000, "\\frac{" * 5000 + "x" + "}{y}" * 5000, "\\sqrt" * 9000, "_{" * 5000 + "}" * 5000]
    + ["\\newcommand{\\a}{" + "\\sqrt" * 100 + "}" + "\\a" * 400, "\\def\\a{\\a}\\a"],
)
def test_a_formula_cannot_exhaust_the_stack(latex: str) -> None:
    assert draw_formula(latex, display=True) is None


def test_a_table_in_a_formula_is_laid_out_by_classes() -> None:
    mathml = draw_formula(r"\begin{array}{c|c}1&2\\\hline 3&4\end{array}", display=True)

    assert mathml is not None
    assert "style=" not in mathml.replace("displaystyle", "")
    assert "math-line-right" in mathml
    assert "math-line-top" in mathml
