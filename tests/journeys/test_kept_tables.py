"""Journey 14: numbers of two specialists become a table, and from then on only its name travels."""

import json
import re

from assistants.models import StoredTable
from tests.journeys.story import Story, call, card, invoke, lead_with, reply
from tests.kit.turns import replies
from tests.tables.spreadsheet import read_xlsx

COLUMNS = [{"name": "Week", "type": "text"}, {"name": "Units", "type": "number"}]


def fetched(story, pointer, kind):
    answer = story.alice.get(f"/c/{story.thread.chat_id}/tables/{pointer}/{kind}/")
    return answer, b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_journey_14_two_specialists_numbers_are_kept_once_drawn_and_exported_by_pointer(ground):
    """Section 6: chart and files hold the rows, the calls hold only the pointer, and no other chat can use it."""
    for slug, says in (("north", "Week 46: 31"), ("south", "Week 47: 118")):
        ground.assistant(slug, script=[says])
    lead_with(ground, "invoke_assistant", "cache_assembled_table", "make_chart", "export_table")
    ground.script([reply(invoke("north"), invoke("south")), "Both have counted."])
    story = Story(ground)
    story.rest()
    sources = [child.chat_id for child in story.children()]
    kept = call("cache_assembled_table", title="Returns", columns=COLUMNS, rows=[["46", 31], ["47", 118]], sources=sources)
    ground.script({"rules": [{"steps": [reply(kept), "Kept."]}]})

    story.say("Keep it")

    table = StoredTable.objects.get()
    assert table.sources == sources and json.loads(story.calls()[0].result)["pointer"] == table.pointer
    drawn = call("make_chart", pointer=table.pointer, kind="bar", x="Week", y=["Units"])
    exported = call("export_table", pointer=table.pointer, format="csv")
    ground.script({"rules": [{"steps": [reply(drawn), reply(exported), "There it is."]}]})
    page = story.say("Draw it")

    chart, file = story.calls()
    assert chart.outcome == file.outcome == "ok"
    # As words: a pointer may have such digits in it.
    assert not any(re.search(r"\b(31|118)\b", each.result + json.dumps(each.arguments)) for each in (chart, file))
    assert "Returns" in page.at("panel").text()
    _, csv = fetched(story, table.pointer, "csv")
    assert "118" in csv.decode() and "Week" in csv.decode()
    _, book = fetched(story, table.pointer, "xlsx")
    assert [row[1] for row in read_xlsx(book)[:3]] == ["Units", 31, 118]
    assert story.alice.get(f"/call/{chart.pk}/chart/").status_code == 200
    assert "Units" in card(page, chart)

    other = Story(ground, "Another matter")
    ground.script({"rules": [{"steps": [reply(drawn), reply(exported), "I can't."]}]})
    other.rest()
    assert other.codes() == ["TABLE_NOT_FOUND", "TABLE_NOT_FOUND"]
    assert fetched(other, table.pointer, "csv")[0].status_code == 404
    assert replies(other.thread)[-1] == "I can't."
