"""Each kind of file becomes text in lines."""

import time
from pathlib import PurePosixPath

import pytest

from assistants.documents.formats import NotText, decode_text, ending_of, is_readable, name_in_words, parse_document
from assistants.documents.web_page import read_page

PAGE = """<!doctype html><html><head><title>Returns &amp; refunds</title><style>p{}</style>
<script>var a = "<p>not this</p>"</script></head><body><nav><a href="/">Home</a></nav>
<h1>Returns</h1><p>Within <b>30</b>&nbsp;days.<br>Really.<!-- no --></p>
<ul><li>Pack it<li>Send it</ul>
<table><tr><th>SKU<th>Units</tr><tr><td>B12345</td><td>1|18</td></tr></table>
<pre>line one
    indented</pre><p>End</body></html>"""


@pytest.mark.parametrize("name", ["a.md", "A.MD", "a.tar.gz", ".md", "..md", "a.", "a", "", "über.Docx"])
@pytest.mark.parametrize("above", ["", "v1.2/", ".git/"])
def test_endings_and_names_are_those_of_paths(above, name):
    path = PurePosixPath(above + name) if name else PurePosixPath()

    assert ending_of(above + name) == path.suffix.lower()
    assert not name or name_in_words(above + name) == (" ".join(path.stem.replace(".", " ").split()) or path.stem)


def test_readable_files_are_told_by_their_names():
    named = ["a.md", "A.MD", "b.txt", "c.rst", "d.html", "e.csv", "f.json", "g.log", "h.py", "sub/Makefile", "README"]
    named += ["a.pdf", "b.DOCX", "c.xlsx", "d.pptx", "e.eml"]

    assert all(is_readable(name) for name in named)
    assert not any(
        is_readable(name) for name in ["a.doc", "b.ppt", "c.png", "d.zip", "e.exe", "id_rsa", "key.pem", "f.sqlite3"]
    )


@pytest.mark.parametrize(
    "data",
    [
        "Größe 5 €\r\nzwei".encode(),
        b"\xef\xbb\xbf" + "Größe 5 €\nzwei".encode(),
        "Größe 5 €\rzwei".encode("utf-16"),
        "Größe 5 €\nzwei".encode("cp1252"),
    ],
)
def test_text_is_decoded_whatever_wrote_it(data):
    assert decode_text(data) == "Größe 5 €\nzwei"


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(NotText):
        decode_text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")


def test_control_characters_do_not_get_into_a_document():
    assert decode_text(b"a\x1b[31mb\x07c\td") == "a[31mbc\td"


def test_a_title_is_the_first_heading_else_the_files_name():
    assert parse_document("x/returns-policy.md", b"intro\n\n# Returns *policy* #\n").title == "Returns policy"
    assert parse_document("x/returns-policy.txt", b"Returns policy\n==============\n").title == "Returns policy"
    assert parse_document("x/returns-policy.md", b"---\ntitle: Our policy\n---\ntext").title == "Our policy"
    assert parse_document("x/returns_policy-2026.md", b"just text").title == "returns policy 2026"
    assert parse_document("x/setup.py", b"# a comment\n").title == "setup"


def test_a_page_becomes_text_with_headings_items_and_rows():
    page = read_page(PAGE)

    assert page.title == "Returns & refunds"
    assert page.text.split("\n\n") == [
        "Home",
        "# Returns",
        "Within 30 days.\nReally.",
        "- Pack it\n- Send it",
        "| SKU | Units |\n| B12345 | 1/18 |",
        "```\nline one\n    indented\n```",
        "End",
    ]


def test_the_text_of_a_page_holds_no_script_or_comment():
    page = read_page("a<script>x</script ><SCRIPT src=y>z</ScRiPt>b<!-- c -->d<style>e</style>f<?php g ?>h<br/>i < j")

    assert page.text == "abdfh\ni < j"


@pytest.mark.parametrize(
    "piece", ["<div>", "<!--", "<a ", "<", "<b><i>", '<a b="', "<![CDATA[", "</", "<script>", "<?", "&", "<td>x", "<tr><td>",
              "<pre>", "<title>x", "</script", "<li>", "<table>", "&#x41;", "</p>", "<textarea>"]
)  # fmt: skip
def test_s37_a_broken_page_takes_time_in_proportion_to_its_length(piece):
    started = time.process_time()

    read_page(piece * (500_000 // len(piece)))

    assert time.process_time() - started < 5


def test_every_row_of_a_table_stands_by_itself():
    text = 'SKU;Product;W47\nB12345;Fjell 30;118\n\nB12346;"Line\nbreak; and more";15\n'

    parsed = parse_document("returns.csv", text.encode())

    assert parsed.text.split("\n") == [
        "SKU; Product; W47",
        "- SKU: B12345; Product: Fjell 30; W47: 118",
        "",
        "- SKU: B12346; Product: Line break; and more; W47: 15",
    ]


def test_a_value_below_no_name_stands_for_itself():
    assert parse_document("x.csv", b"SKU,,W47\nB1,new,118").text.endswith("- SKU: B1; new; W47: 118")


def test_what_is_no_table_stays_as_it_is():
    for text in ("", "one column\nof words", "a,b\nc\nd,e,f", 'broken,"quote\nx'):
        assert parse_document("x.csv", text.encode()).text == text


def test_json_in_one_line_is_spread_over_lines():
    parsed = parse_document("x.json", b'{"items": [' + b'{"name": "K\\u00e4se", "odd": "\\ud800"},' * 200 + b"1]}")

    assert '   "name": "Käse",' in parsed.text.split("\n")
    assert parsed.text.encode()


def test_broken_json_is_read_as_text():
    assert parse_document("x.json", b"{" * 3000).text == "{" * 3000
    assert parse_document("x.json", b"[" * 300_000).text == "[" * 300_000


def test_control_signs_are_left_out_of_plain_ascii_as_of_any_other_text():
    signs = b"".join(bytes([each]) for each in range(1, 128)) + b"\r\nend"

    plain, other = decode_text(signs), decode_text("ü".encode() + signs)

    assert other == f"ü{plain}"
    assert plain.startswith("\t\n\n\n !") and plain.endswith("}~\nend")
