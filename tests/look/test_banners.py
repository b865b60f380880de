"""A banner is a row of parts, and what it says is one of them: words beside a time or a link would become columns."""

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
BANNER = re.compile(r'<(p|div) [^>]*class="banner[^>]*>(.*?)</\1>', re.DOTALL)
PARTS = re.compile(r"({% icon [^%]+ %})?(<.+>|{% include [^%]+ %}.*>)?", re.DOTALL)
BANNERS = [
    (path.relative_to(TEMPLATES).as_posix(), found[2])
    for path in sorted(TEMPLATES.rglob("*.html"))
    for found in BANNER.finditer(path.read_text())
]


@pytest.mark.parametrize(("template", "inside"), BANNERS)
def test_what_a_banner_says_stands_in_one_part(template, inside):
    assert PARTS.fullmatch(re.sub(r"{% (if|endif)[^%]*%}", "", inside))
