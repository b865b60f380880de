"""A table is kept only if it is one, says where it comes from, and is found only in its own conversation (section 6)."""

import json

import pytest

from assistants.conversations import deletion, forks
from assistants.models import StoredTable, Thread, ToolCall
from assistants.models.definition import definition_of
from assistants.tables.pointers import find_table
from assistants.tools.context import ToolContext
from assistants.tools.invoke import invoke
from assistants.tools.registry import find_tool
from tests.kit.turns import last_turn
from tests.tables.keeping import COLUMNS, ROWS, cache, call, called, converse, keep, refusal


def test_a_kept_table_comes_back_as_a_pointer_and_its_first_rows(ground):
    rows = [[str(week), week] for week in range(1, 9)]

    table = keep(ground, rows=rows)

    told = json.loads(called(table.root).result)
    assert told == {"pointer": table.pointer, "rowCount": 8, "columnCount": 2, "preview": rows[:5]}
    assert table.rows == rows and table.columns == COLUMNS and table.sources == ["person"]
    assert table.tenant == ground.apes and table.row_count == 8


def test_a_preview_shows_a_model_only_the_beginning_of_a_long_text(ground):
    table = keep(ground, rows=[["w" * 8000, 1]])

    assert json.loads(called(table.root).result)["preview"] == [["w" * 80 + " …", 1]]
    assert table.rows[0][0] == "w" * 8000


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("text", 5),
        ("text", True),
        ("text", ["a"]),
        ("text", "x" * 8001),
        ("number", "12,5"),
        ("number", "12 kg"),
        ("number", ""),
        ("number", True),
        ("number", "1e5"),
        ("number", "NaN"),
        ("number", "Infinity"),
        ("number", "٣"),
        ("number", 10**34),
        ("number", 1e300),
        ("number", {"value": 1}),
        ("date", "30.11.2026"),
        ("date", "2026-02-30"),
        ("date", "20261130"),
        ("date", "2026-W48-1"),
        ("date", 20261130),
        ("bool", "true"),
        ("bool", 1),
    ],
)
def test_a_cell_that_does_not_fit_its_column_is_named_by_row_and_column(ground, kind, cell):
    columns = [{"name": "Week", "type": "text"}, {"name": "Value", "type": kind}]

    found = refusal(ground, columns=columns, rows=[["46", None], ["47", cell]])

    assert found.code == "TABLE_CELL" and "rows.1.1" in found.result
    assert f"Row 2, column “Value” ({kind})" in found.result


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused_in_whatever_way_it_is_written(ground, text):
    arguments = json.dumps({"title": "T", "columns": COLUMNS, "rows": [["46", "HERE"]], "sources": ["person"]})

    thread = converse(ground, {"calls": [{"name": "cache_assembled_table", "arguments": arguments.replace('"HERE"', text)}]})

    assert called(thread).outcome == ToolCall.Outcome.REFUSED and called(thread).code in ("BAD_ARGUMENTS", "TABLE_CELL")
    assert not StoredTable.objects.exists()


@pytest.mark.parametrize(
    "cell", [0, -5, 2**53 + 1, 10**34 - 1, 0.1, -2.5e-7, 19.9, "19.90", "-0.10", "12345678901234567.89", "007"]
)
def test_a_number_is_kept_digit_by_digit(ground, cell):
    table = keep(ground, rows=[["46", cell]])

    assert table.rows[0][1] == cell and type(table.rows[0][1]) is type(cell)


def test_what_is_not_known_is_null_in_a_column_of_any_type(ground):
    columns = [{"name": kind, "type": kind} for kind in ("text", "number", "date", "bool")]

    table = keep(ground, columns=columns, rows=[[None] * 4, ["", 1, "2026-11-30", False]])

    assert table.rows == [[None] * 4, ["", 1, "2026-11-30", False]]


@pytest.mark.parametrize("rows", [[["46", 31], ["47"]], [["46", 31], ["47", 118, 5]], [["46", 31], []]])
def test_a_ragged_row_is_refused_by_its_number(ground, rows):
    found = refusal(ground, rows=rows)

    assert found.code == "TABLE_RAGGED" and "Row 2 " in found.result and "2 columns" in found.result


@pytest.mark.parametrize("names", [("Week", "Week"), ("Week", " week "), ("Week", "  ")])
def test_a_column_name_that_stands_twice_or_is_blank_is_refused(ground, names):
    found = refusal(ground, columns=[{"name": name, "type": "number"} for name in names], rows=[[1, 2]])

    assert found.code == "TABLE_COLUMNS" and "columns.1.name" in found.result


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": []},
        {"rows": [["46", 31]] * 1001},
        {"columns": []},
        {"columns": [{"name": f"c{number}", "type": "text"} for number in range(31)], "rows": [["x"] * 31]},
        {"columns": [{"name": "Week", "type": "money"}, COLUMNS[1]]},
        {"columns": [{"name": "Week", "type": "text", "role": "system"}, COLUMNS[1]]},
        {"title": ""},
        {"sources": []},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_stands_in_the_schema_is_refused_before_anything_else(ground, changed):
    assert refusal(ground, **changed).code == "BAD_ARGUMENTS"


def test_the_largest_table_is_kept_and_one_above_256_kib_is_not(ground):
    columns = [{"name": f"c{number}", "type": "number"} for number in range(30)]
    whole = [[number % 10 for number in range(30)]] * 1000

    assert refusal(ground, rows=[["ä" * 7000, 1]] * 20).code == "TABLE_TOO_LARGE"
    assert keep(ground, columns=columns, rows=whole).rows == whole


def test_a_refused_table_leaves_the_turn_to_go_on(ground):
    thread = converse(ground, cache(rows=[["46"]]), cache())

    assert [each.outcome for each in last_turn(thread).calls.order_by("round")] == ["refused", "ok"]
    assert last_turn(thread).state == "done"


def test_a_source_that_is_not_in_the_record_is_refused_with_those_that_are(ground):
    ground.assistant("stock", script=["31 and 118"])
    delegation = call("invoke_assistant", assistant="stock", task="Count")

    thread = converse(ground, call("current_time"), delegation, cache(sources=["invoke_assistant"]))

    child = Thread.objects.get(parent=thread)
    assert called(thread).code == "TABLE_SOURCE_UNKNOWN"
    assert f"There is: {child.chat_id}, current_time, person." in called(thread).result


def test_the_reports_and_tools_of_this_conversation_are_sources(ground):
    ground.assistant("stock", script=["31"])
    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))
    child = Thread.objects.get(parent=thread)

    converse(ground, call("current_time"), cache(sources=[child.chat_id, "current_time", child.chat_id]), thread=thread)

    assert StoredTable.objects.get().sources == [child.chat_id, "current_time"]


def test_a_sub_chat_of_another_conversation_is_no_source(ground):
    ground.assistant("stock", script=["31"])
    converse(ground, call("invoke_assistant", assistant="stock", task="Count"))
    foreign = Thread.objects.exclude(parent=None).get().chat_id

    assert refusal(ground, sources=[foreign]).code == "TABLE_SOURCE_UNKNOWN"


def test_a_tool_that_gave_no_result_is_no_source(ground):
    thread = converse(ground, call("current_time", zone="nowhere"), cache(sources=["current_time"]))

    assert called(thread).code == "TABLE_SOURCE_UNKNOWN"


def test_no_tool_that_only_handles_tables_is_a_source(ground):
    table = keep(ground)

    converse(ground, cache(sources=["cache_assembled_table"]), thread=table.root)

    assert called(table.root).code == "TABLE_SOURCE_UNKNOWN"


def test_a_call_that_is_carried_out_again_keeps_one_table(ground):
    table = keep(ground)
    found = called(table.root)

    context = ToolContext(call=found, turn=found.turn, thread=found.turn.thread, definition=definition_of(found.turn.thread))
    again = invoke(context, starting=lambda tool: None)

    assert again.value["pointer"] == table.pointer and StoredTable.objects.count() == 1


MALFORMED = [
    "tbl_",
    "tbl_ABCDEF012345",
    "tbl_0123456789ab ",
    "tbl_0123456789abc",
    "1",
    "x" * 500,
    "../x",
    "",
    "tbl_" + "0" * 12,
]


@pytest.mark.parametrize("pointer", MALFORMED)
def test_journey_14_foreign_unknown_and_malformed_pointers_are_refused_in_the_same_words(ground, pointer):
    foreign = keep(ground)

    thread = converse(
        ground,
        {
            "calls": [
                call("export_table", pointer=foreign.pointer, format="csv")["calls"][0],
                call("export_table", pointer=pointer, format="csv")["calls"][0],
            ]
        },
    )

    calls = last_turn(thread).calls.order_by("index")
    assert [each.code for each in calls] == ["TABLE_NOT_FOUND"] * 2
    assert calls[0].result == calls[1].result


def test_a_pointer_of_another_tenant_is_not_found_even_if_the_row_said_so(ground):
    table = keep(ground)
    StoredTable.objects.filter(pk=table.pk).update(tenant=ground.bears)

    assert find_table(table.root, table.pointer) is None


def test_a_sub_chat_and_its_parent_share_their_tables(ground):
    ground.assistant(
        "stock",
        tools=["calculate", "cache_assembled_table"],
        script=[call("calculate", expression="1+1"), cache(sources=["calculate"]), "Kept."],
    )

    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))

    table, child = StoredTable.objects.get(), Thread.objects.get(parent=thread)
    assert table.root == thread
    assert find_table(child, table.pointer) == find_table(thread, table.pointer) == table


def test_deleting_the_conversation_deletes_its_tables(ground):
    table = keep(ground)

    deletion.delete_thread(table.root, by=ground.alice, name="Alice")

    assert not StoredTable.objects.exists()


def test_a_copied_conversation_has_its_own_copy_under_the_same_pointer(ground):
    table = keep(ground)
    keep(ground)
    last = table.root.messages.filter(role="assistant").order_by("-sequence").first()

    copy = forks.fork_thread(last, owner=ground.bob)
    Thread.objects.filter(pk=table.root_id).delete()

    kept = StoredTable.objects.get(root=copy)
    assert (kept.pointer, kept.rows, kept.row_count) == (table.pointer, ROWS, 2)
    assert kept.call.turn.thread == copy


def test_a_copy_takes_along_what_a_sub_chat_kept_if_its_words_name_it(ground):
    ground.assistant(
        "stock",
        tools=["calculate", "cache_assembled_table"],
        script=[call("calculate", expression="1+1"), cache(sources=["calculate"]), "Kept."],
    )
    thread = converse(ground, call("invoke_assistant", assistant="stock", task="Count"))
    table = StoredTable.objects.get()
    converse(ground, call("make_chart", pointer=table.pointer, kind="bar", x="Week", y=["Units"]), thread=thread)
    last = thread.messages.filter(role="assistant").order_by("-sequence").first()

    copy = forks.fork_thread(last, owner=ground.alice)

    assert find_table(copy, table.pointer).call is None


@pytest.mark.parametrize("name", ["invoke_assistant", "spawn_agent", "hand_back"])
def test_j21_whoever_passes_on_numbers_of_several_is_told_to_keep_them_first(name):
    assert "cache_assembled_table" in find_tool(name).description


def test_j21_the_tool_says_when_it_is_due():
    said = " ".join(find_tool("cache_assembled_table").description.split())

    assert "before you report numbers or rows onward that came separately from several specialists" in said
    for name in ("make_chart", "export_table"):
        assert "cache_assembled_table" in find_tool(name).description


def test_journey_14_two_specialists_numbers_become_a_table_a_chart_and_a_file_by_pointer_alone(ground):
    ground.assistant("north", script=["46: 31"])
    ground.assistant("south", script=["47: 118"])
    both = [call("invoke_assistant", assistant=slug, task="Count")["calls"][0] for slug in ("north", "south")]
    thread = converse(ground, {"calls": both})
    children = list(Thread.objects.filter(parent=thread).values_list("chat_id", flat=True))

    converse(ground, cache(sources=children), thread=thread)
    pointer = StoredTable.objects.get().pointer
    converse(
        ground,
        call("make_chart", pointer=pointer, kind="bar", x="Week", y=["Units"]),
        call("export_table", pointer=pointer, format="csv"),
        thread=thread,
    )

    drawn, exported = last_turn(thread).calls.order_by("round")
    assert drawn.outcome == exported.outcome == "ok"
    assert json.loads(drawn.result)["pointer"] == json.loads(exported.result)["pointer"] == pointer
    assert "118" not in drawn.result + exported.result
    other = converse(ground, call("make_chart", pointer=pointer, kind="bar", x="Week", y=["Units"]))
    assert called(other).code == "TABLE_NOT_FOUND"
