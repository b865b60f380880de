"""LaTeX to sanitised MathML; what cannot be drawn shows its source."""

import re
from functools import lru_cache

from django.utils.html import escape
from math_core import LatexError, LatexToMathML

from assistants.rendering.sanitize import sanitize_math

# The converter recurses: about 2,800 nested groups end the whole process with a stack overflow, and a macro makes any number
# of them out of a few characters. So formulas are short, and macros are off.
MAX_LATEX_CHARS = 2000
_converter = LatexToMathML(fancy_error=False, max_expansions=0)

# Style attributes are dropped and blocked by our CSP; what they say about a table's layout is said by classes instead.
_STYLED = re.compile(r'(<(?:mtd|mtable)\b[^<>]*?) style="([^"<>]*)"')
_CLASS_OF = {
    "text-align: left": "math-left",
    "text-align: right": "math-right",
    "padding-left:1em": "math-gap",
    "width: 50%": "math-fill",
    "width: 100%": "math-wide",
    "border-top": "math-line-top",
    "border-right": "math-line-right",
    "border-bottom": "math-line-bottom",
    "border-left": "math-line-left",
}


def draw_formula(latex: str, *, display: bool) -> str | None:
    """Turns LaTeX into clean MathML; None if it is no LaTeX that we can draw."""
    if len(latex) > MAX_LATEX_CHARS or not latex.strip():
        return None
    return _convert(latex.strip(), display)


def draw_source(latex: str, *, opening: str, closing: str) -> str:
    """Shows a formula as it was written, escaped, with its delimiters."""
    return escape(f"{opening}{latex}{closing}")


@lru_cache(maxsize=1024)
def _convert(latex: str, display: bool) -> str | None:
    try:
        mathml = _converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError:
        return None
    return sanitize_math(_STYLED.sub(_styles_to_classes, mathml))


def _styles_to_classes(match: re.Match[str]) -> str:
    classes = " ".join(name for style, name in _CLASS_OF.items() if style in match[2])
    return f'{match[1]} class="{classes}"'
