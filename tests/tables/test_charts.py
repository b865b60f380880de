"""A chart shows what can be told apart, is drawn without a script, and says the same as its table (section 6)."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.errors import CodedError
from assistants.models import StoredTable
from assistants.tables.charts import MAX_VALUES, Wish, make_chart
from assistants.tables.drawing import COLOURS, INK, draw_chart
from tests.rendering.payloads import PAYLOADS
from tests.tables.keeping import call, called, converse, keep

KINDS = ("bar", "line", "pie", "scatter")
COLUMNS = [("Week", "text"), ("Units", "number"), ("Orders", "number"), ("Day", "date")]
ROWS = [["46", 31, "12.50", "2026-11-15"], ["47", 118, None, "2026-11-22"]]
SHAPES = {"svg", "defs", "style", "title", "g", "rect", "path", "line", "text", "circle", "tspan"}
PAPER = {"light": "#ffffff", "dark": "#1e201b"}


def table(rows=ROWS, columns=COLUMNS, title="Returns") -> StoredTable:
    named = [{"name": name, "type": kind} for name, kind in columns]
    return StoredTable(title=title, pointer="tbl_0123456789ab", columns=named, rows=rows, created=datetime.now(UTC))


def refused(wish: Wish, **changed) -> CodedError:
    with pytest.raises(CodedError) as raised:
        make_chart(table(**changed), wish)
    return raised.value


def drawn(wish: Wish, *, dark=False, **changed) -> ElementTree.Element:
    return ElementTree.fromstring(draw_chart(make_chart(table(**changed), wish), dark=dark))


def names(root: ElementTree.Element) -> set[str]:
    return {each.tag.rpartition("}")[2] for each in root.iter()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_with_its_own_styles_and_nothing_that_acts(kind):
    root = drawn(Wish(kind, "Orders" if kind == "scatter" else "Week", ("Units",)))

    assert names(root) <= SHAPES
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or name.endswith("href")]
    assert "http" not in ElementTree.tostring(root, encoding="unicode").replace("http://www.w3.org/", "")


def test_the_same_chart_is_drawn_the_same_way_every_time():
    chart = make_chart(table(), Wish("bar", "Week", ("Units", "Orders")))

    assert draw_chart(chart, dark=False) == draw_chart(chart, dark=False) != draw_chart(chart, dark=True)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_s18_a_hostile_title_column_or_cell_is_text_in_a_drawing(payload):
    name = payload.strip()[:70] or "x"
    numbers = [(f"{name} y", "number"), (f"{name} z", "number")]
    for kind in KINDS:
        scatter = kind == "scatter"
        columns = [(f"{name} x", "number" if scatter else "text"), *numbers]
        rows = [[3 if scatter else payload, 1, 2], [4 if scatter else f"{payload}&\x01\x1b\ufffe", 5, None]]
        wish = Wish(kind, columns[0][0], tuple(each for each, _ in numbers[: 1 if kind == "pie" else 2]), f"{payload}\0\x0b")

        root = drawn(wish, columns=columns, rows=rows)

        assert names(root) <= SHAPES
        assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or name.endswith("href")]


def test_a_column_that_is_not_there_is_refused_with_those_that_are():
    error = refused(Wish("bar", "Week", ("units",)))

    assert (error.code, error.field) == ("CHART_COLUMN", "y.0")
    assert "Week (text), Units (number), Orders (number), Day (date)" in error.message


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        (Wish("bar", "Units", ("Week",)), "y.0"),
        (Wish("line", "Week", ("Units", "Day")), "y.1"),
        (Wish("scatter", "Week", ("Units",)), "x"),
        (Wish("bar", "Week", ("Units", "Units")), "y"),
        (Wish("bar", "Units", ("Units",)), "y"),
        (Wish("pie", "Week", ("Units", "Orders")), "y"),
    ],
)
def test_columns_that_do_not_fit_the_kind_are_refused(wish, field):
    error = refused(wish)

    assert (error.code, error.field) == ("CHART_COLUMN", field) and error.fix


@pytest.mark.parametrize("kind", KINDS)
def test_more_values_than_can_be_told_apart_are_refused_and_as_many_are_drawn(kind):
    most, wish = MAX_VALUES[kind], Wish(kind, "Orders" if kind == "scatter" else "Week", ("Units",))
    rows = [[str(number), number + 1, number, None] for number in range(most + 1)]

    assert refused(wish, rows=rows).code == "CHART_VALUES"
    assert drawn(wish, rows=rows[:most]) is not None


@pytest.mark.parametrize("values", [[-1, 2], [0, 0], [None, None]])
def test_a_pie_of_what_is_no_share_is_refused(values):
    rows = [[str(number), value, None, None] for number, value in enumerate(values)]

    assert refused(Wish("pie", "Week", ("Units",)), rows=rows).code == "CHART_VALUES"


def test_a_chart_without_a_number_is_refused():
    assert refused(Wish("bar", "Week", ("Orders",)), rows=[["46", 1, None, None]]).code == "CHART_VALUES"


def test_the_range_of_a_chart_is_told_in_the_digits_that_were_given():
    chart = make_chart(table(), Wish("bar", "Week", ("Units", "Orders")))

    assert (chart.low, chart.high) == ("12.50", "118")


def test_a_point_far_out_that_stands_alone_is_drawn_although_another_row_has_no_value():
    made = table(rows=[[0, None], [9007199254740992, 0]], columns=[("a", "number"), ("b", "number")])

    text = draw_chart(make_chart(made, Wish("scatter", "a", ("b",))), dark=False)

    assert ElementTree.fromstring(text) is not None and "circle" in text


@pytest.mark.parametrize(
    ("kind", "values", "marks"),
    [
        ("line", [31, 118], ["0", "20", "40", "60", "80", "100", "120"]),
        ("bar", [31, 118], ["0", "20", "40", "60", "80", "100", "120"]),
        ("line", [-3, -1], ["-3", "-2.5", "-2", "-1.5", "-1", "-0.5", "0"]),
        ("line", [0.7, -0.2], ["-0.2", "0", "0.2", "0.4", "0.6", "0.8"]),
        (
            "scatter",
            [2010, 2021],
            ["2\u202f010", "2\u202f012", "2\u202f014", "2\u202f016", "2\u202f018", "2\u202f020", "2\u202f022"],
        ),
    ],
)
def test_an_axis_is_marked_from_below_the_least_value_to_above_the_largest_and_from_nought(kind, values, marks):
    made = table(rows=[[number, value] for number, value in enumerate(values)], columns=[("a", "number"), ("b", "number")])

    drawing = ElementTree.fromstring(draw_chart(make_chart(made, Wish(kind, "a", ("b",))), dark=False))

    axis = next(each for each in drawing.iter() if each.get("class", "").startswith("axis y"))
    assert [each.text for each in axis.iter() if each.tag.endswith("}text")] == marks


NUMBERS = st.none() | st.integers(-(10**34) + 1, 10**34 - 1) | st.floats(-1e33, 1e33).filter(lambda x: not x or abs(x) > 1e-34)


@given(kind=st.sampled_from(KINDS), rows=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12), dark=st.booleans())
@settings(max_examples=120, deadline=None)
def test_any_numbers_that_a_table_may_hold_are_drawn_or_refused(kind, rows, dark):
    made = table(rows=[list(row) for row in rows], columns=[("a", "number"), ("b", "number")])

    try:
        chart = make_chart(made, Wish(kind, "a", ("b",)))
    except CodedError as error:
        assert error.code == "CHART_VALUES"
        return

    text = draw_chart(chart, dark=dark)
    assert not re.search(r'\b(nan|inf)\b[^<]*"', text) and ElementTree.fromstring(text) is not None


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_words_and_shapes_of_a_drawing_stand_out_from_the_paper(look):
    assert min(contrast(colour, PAPER[look]) for colour in INK[look]) >= 4.5
    assert min(contrast(colour, PAPER[look]) for colour in COLOURS[look]) >= 3


def test_a_refused_chart_says_what_to_do(ground):
    kept = keep(ground)

    converse(ground, call("make_chart", pointer=kept.pointer, kind="bar", x="Units", y=["Week"]), thread=kept.root)

    assert called(kept.root).code == "CHART_COLUMN"
    assert "fix=Name a column of type number." in called(kept.root).result
