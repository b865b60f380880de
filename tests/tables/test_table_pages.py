"""What a person sees of kept tables: cards, pages, drawings and files, live and after a reload."""

import re
from html import unescape

import pytest

from assistants.conversations import forks
from assistants.models import StoredTable, Thread, ThreadShare
from assistants.rendering import fragments
from assistants.rendering.tables import grid_of
from tests.kit.browsers import PAGE, signed_in, stranger
from tests.kit.page import Page, read
from tests.rendering.payloads import PAYLOADS
from tests.tables.keeping import COLUMNS, cache, call, called, converse, keep


def page_of(table):
    return f"/c/{table.root.chat_id}/tables/{table.pointer}/"


def cells(html: str) -> list[list[str]]:
    """The cells of the first table of a page or card."""
    body = read(html).find(_class="grid")
    rows = re.findall(r"<tr>(.*?)</tr>", body.outline().partition("<tbody>")[2])
    return [[unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def card(thread: Thread, person) -> str:
    return fragments.draw_call(called(thread), fragments.viewpoint(thread, person))


def test_the_card_shows_title_size_origin_and_rows(ground):
    ground.assistant("stock", name="Stock", script=["31"])
    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))
    child = Thread.objects.get(parent=thread)
    converse(ground, call("current_time"), cache(sources=[child.chat_id, "current_time", "person"]), thread=thread)

    html = card(thread, ground.alice)

    assert cells(html) == [["46", "31"], ["47", "118"]]
    text = " ".join(read(html).text().split())
    assert "from 1 report" in text
    assert "2 rows × 2 columns · From: Stock, current_time, what was written here" in text
    assert f'href="/c/{child.chat_id}/"' in html
    assert all(f"/{kind}/" in html for kind in ("csv", "xlsx", "json"))


def test_a_long_table_shows_twenty_rows_and_where_the_others_are(ground):
    table = keep(ground, rows=[[str(number), number] for number in range(25)])

    html = card(table.root, ground.alice)

    assert len(cells(html)) == 20 and "data-whole" not in html
    assert f'href="{page_of(table)}">Show all 25 rows' in html
    assert len(cells(signed_in(ground.alice).get(page_of(table)).content.decode())) == 25


def test_cells_are_shown_as_they_were_given(ground):
    columns = [{"name": kind, "type": kind} for kind in ("text", "number", "date", "bool")]
    table = keep(ground, columns=columns, rows=[["a  b", "0.10", "2026-11-30", True], [None, -5, None, False]])

    assert cells(card(table.root, ground.alice)) == [["a b", "0.10", "2026-11-30", "yes"], ["–", "-5", "–", "no"]]


def test_a_refused_table_has_the_card_of_a_refused_call(ground):
    thread = converse(ground, cache(rows=[["46"]]))

    html = card(thread, ground.alice)

    assert "refused" in html and "TABLE_RAGGED" in html and "grid" not in html


def test_a_page_that_was_open_shows_what_a_reload_shows(ground):
    thread = converse(ground, "Hello.")
    browser = signed_in(ground.alice, **PAGE)
    page = Page(browser, thread)

    converse(ground, cache(), thread=thread)
    table = thread.tables.get()
    steps = [
        call("make_chart", pointer=table.pointer, kind="bar", x="Week", y=["Units"]),
        call("export_table", pointer=table.pointer, format="xlsx"),
    ]
    converse(ground, *steps, thread=thread)
    page.poll()

    assert page.parts() == Page(browser, thread).parts()
    assert page.at("panel").outline() == Page(browser, thread).at("panel").outline()
    assert "Returns" in page.at("panel").text()


def test_the_conversation_at_the_top_lists_what_a_sub_chat_kept(ground):
    steps = [call("calculate", expression="1+1"), cache(sources=["calculate"]), "Kept."]
    ground.assistant("stock", tools=["calculate", "cache_assembled_table"], script=steps)

    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))

    table = thread.tables.get()
    html = fragments.draw_panel(fragments.viewpoint(thread, ground.alice))
    assert f'href="{page_of(table)}"' in html and "2 rows × 2 columns" in html


def test_a_conversation_without_a_table_has_no_list_of_them(ground):
    thread = converse(ground, "Hello.")

    assert "kept-list" not in fragments.draw_panel(fragments.viewpoint(thread, ground.alice))


def test_the_card_of_a_chart_says_in_words_what_the_drawing_shows(ground):
    table = keep(ground)
    wish = call("make_chart", pointer=table.pointer, kind="line", x="Week", y=["Units"], title='Up "and" up')
    converse(ground, wish, thread=table.root)

    html = card(table.root, ground.alice)

    drawn = read(html).find(_class="chart in-light").attributes
    assert drawn["alt"] == 'Line chart: Up "and" up. Units by Week, 2 rows, from 31 to 118.'
    assert read(html).find(_class="chart in-dark").attributes["src"] == f"{drawn['src']}?look=dark"
    assert cells(html) == [["46", "31"], ["47", "118"]]
    assert " style=" not in html and "<script" not in html


def test_a_drawing_may_do_nothing_and_is_kept_by_no_cache(ground):
    table = keep(ground)
    converse(ground, call("make_chart", pointer=table.pointer, kind="pie", x="Week", y=["Units"]), thread=table.root)

    answer = signed_in(ground.alice).get(f"/call/{called(table.root).pk}/chart/?look=dark")

    assert answer.headers["Content-Type"] == "image/svg+xml" and answer.content.startswith(b"<svg")
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["style-src"] == "'unsafe-inline'" and "sandbox" in policy
    assert "script-src" not in policy and "img-src" not in policy
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("name", "arguments"), [("current_time", {}), ("make_chart", {"kind": "bar", "x": "?", "y": ["Units"]})]
)
def test_a_call_that_drew_nothing_has_no_drawing(ground, name, arguments):
    table = keep(ground)
    given = {**arguments, "pointer": table.pointer} if arguments else {}
    converse(ground, call(name, **given), thread=table.root)

    assert signed_in(ground.alice).get(f"/call/{called(table.root).pk}/chart/").status_code == 404


@pytest.mark.parametrize(("kind", "media_type"), [("csv", "text/csv; charset=utf-8"), ("json", "application/json")])
def test_a_file_is_saved_and_not_shown(ground, kind, media_type):
    table = keep(ground, title='Rückläufer <b>"x"')

    answer = signed_in(ground.alice).get(f"{page_of(table)}{kind}/")

    assert answer.headers["Content-Type"] == media_type
    assert answer.headers["Content-Disposition"] == f"attachment; filename*=utf-8''R%C3%BCckl%C3%A4ufer%20-b--x.{kind}"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_card_of_an_export_leads_to_the_file(ground):
    table = keep(ground)
    converse(ground, call("export_table", pointer=table.pointer, format="xlsx"), thread=table.root)

    link = re.search(r'href="([^"]*/xlsx/)"', card(table.root, ground.alice))[1]

    assert signed_in(ground.alice).get(link).content.startswith(b"PK")


@pytest.mark.parametrize("kind", ["pdf", "CSV", "..", "csv%00"])
def test_there_is_no_other_kind_of_file(ground, kind):
    assert signed_in(ground.alice).get(f"{page_of(keep(ground))}{kind}/").status_code == 404


def test_s05_who_may_read_the_conversation_may_look_and_download_and_nobody_else(ground):
    table = keep(ground)
    ThreadShare.objects.create(thread=table.root, user=ground.rita)
    addresses = [page_of(table), f"{page_of(table)}csv/"]

    def answers(browser):
        return [browser.get(address).status_code for address in addresses]

    assert answers(signed_in(ground.rita)) == answers(signed_in(ground.alice)) == [200, 200]
    assert answers(signed_in(ground.bob)) == answers(signed_in(ground.charlie)) == [404, 404]
    assert answers(stranger(**PAGE)) == [302, 302]


def test_a_pointer_of_another_conversation_is_not_found_at_ones_own(ground):
    foreign = keep(ground)
    mine = converse(ground, "Hello.")

    for pointer in (foreign.pointer, "tbl_000000000000", "x", "%00"):
        assert signed_in(ground.alice).get(f"/c/{mine.chat_id}/tables/{pointer}/").status_code == 404


def test_a_copy_shows_its_own_table_and_links_to_nothing_of_the_original(ground):
    ground.assistant("stock", script=["31"])
    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))
    child = Thread.objects.get(parent=thread)
    converse(ground, cache(sources=[child.chat_id]), thread=thread)
    copy = forks.fork_thread(thread.messages.filter(role="assistant").order_by("-sequence").first(), owner=ground.bob)

    html = signed_in(ground.bob).get(page_of(copy.tables.get())).content.decode()

    assert cells(html) == [["46", "31"], ["47", "118"]]
    assert "From: a sub-chat" in " ".join(read(html).text().split()) and child.chat_id not in html


def test_s18_a_hostile_title_column_or_cell_is_text_on_a_page(ground):
    thread, browser = converse(ground, "Hello."), signed_in(ground.alice)
    allowed = set("div p small a table caption thead tbody tr th td span".split())
    for number, payload in enumerate(PAYLOADS):
        columns = [{"name": payload[:80], "type": "text"}, {"name": "Units", "type": "number"}]
        table = StoredTable.objects.create(
            pointer=f"tbl_{number:012x}",
            tenant=ground.apes,
            root=thread,
            title=payload[:200],
            columns=columns,
            rows=[[payload, 1]],
            row_count=1,
            sources=[payload],
        )

        html = browser.get(page_of(table)).content.decode()

        shown = read(html).find(_class="log")
        assert {each.name for each in descend(shown)} <= allowed
        assert not [name for each in descend(shown) for name in each.attributes if name.startswith("on") or name == "style"]
        # PostgreSQL keeps no NUL.
        told, text = (each.replace("\0", "").split() for each in (payload, shown.text()))
        assert " ".join(told) in " ".join(text)


def descend(element):
    for child in element.elements():
        yield child
        yield from descend(child)


SORTED = {
    "sort=0&order=ascending": ["10", "9", "b", "B", "–"],
    "sort=1&order=ascending": ["9", "B", "10", "b", "–"],
    "sort=1&order=descending": ["b", "10", "B", "9", "–"],
    "sort=7": ["b", "10", "–", "9", "B"],
    "sort=-1": ["b", "10", "–", "9", "B"],
    "sort=x&order=y": ["b", "10", "–", "9", "B"],
}


@pytest.mark.parametrize("asked", SORTED)
def test_a_table_is_sorted_by_a_column_without_a_script_and_what_is_unknown_comes_last(ground, asked):
    table = keep(ground, rows=[["b", "100.5"], ["10", 20], [None, None], ["9", -3], ["B", 0.5]])

    html = signed_in(ground.alice).get(f"{page_of(table)}?{asked}").content.decode()

    assert [row[0] for row in cells(html)] == SORTED[asked]


def test_the_head_of_a_sorted_column_says_so_and_leads_to_the_other_order(ground):
    table = keep(ground)

    html = signed_in(ground.alice).get(f"{page_of(table)}?sort=1&order=ascending").content.decode()

    assert 'aria-sort="ascending"' in html and html.count("aria-sort") == 1
    assert f"{page_of(table)}?sort=1&amp;order=descending" in html
    assert f"{page_of(table)}?sort=0&amp;order=ascending" in html


def test_numbers_that_differ_in_their_last_digit_are_sorted_right(ground):
    table = keep(ground, columns=COLUMNS, rows=[["a", 2**60 + 1], ["b", 2**60]])

    assert [row[0] for row in grid_of(table, sort=1).rows] == ["b", "a"]
