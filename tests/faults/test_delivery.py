"""Text reaches pages while the database is busy with somebody else (S20)."""

import time

from tests.faults.invariants import check
from tests.faults.test_databases import locked
from tests.kit.stub_llm import finish, say

PAUSE = 0.05


def test_report_s20_four_replies_grow_on_while_a_writer_holds_the_database(embedded, llm):
    llm.script_forever([say("word ", 100, PAUSE), finish("stop")])
    chats = [embedded.client.open(f"hi {number}", f"k{number}") for number in range(4)]
    pages = [embedded.client.follow(chat) for chat in chats]
    for page in pages:
        assert page.sees("word", within=60)

    with locked(embedded, 10):
        time.sleep(0.2)
        arrived = [sum("m" in frame for frame in page.read_for(1.0)) for page in pages]

    # Read one after the other, so each page's own second holds what came meanwhile: more than every other word.
    assert min(arrived) >= 10, arrived
    embedded.wait_quiet(30, count=4)
    assert {text.count("word") for text in embedded.texts("assistant")} == {100}
    for page in pages:
        page.drop()
    check(embedded, llm)
