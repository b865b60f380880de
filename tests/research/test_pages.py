"""A research on the page: the results' card, the document at the quote, and feedback (A-39, A1, K2, K3)."""

from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from assistants.conversations.sharing import share_thread
from assistants.documents.indexing import index_root
from assistants.llm import scripted
from assistants.models import Thread, User
from assistants.turns.lifecycle import send_message
from subchats.models import Evidence
from subchats.research.passage import passage_of
from subchats.research_cards import coverage_of
from subchats.templatetags.researches import place
from tests.documents.office import row, xlsx
from tests.kit.turns import run_all
from tests.kit.world import World
from tests.research.house import QUERY, TEXT, House, build, candidate, emits, handoff, run_of, sends, task


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    return build(ground, tmp_path)


@pytest.fixture
def thread(house: House) -> Thread:
    return house.ask(
        [sends(), emits(answer="A refund takes five working days at most [1]. Gift cards are a world of their own.")],
        [handoff()],
    )


def page(user: User, address: str) -> tuple[int, str]:
    browser = Client()
    browser.force_login(user)
    response = browser.get(address)
    return response.status_code, response.content.decode()


def address_of(thread: Thread) -> str:
    return f"/c/{thread.chat_id}/evidence/{Evidence.objects.get().pk}/"


def test_the_card_shows_results_quotes_dates_and_what_was_read(house: House, thread: Thread) -> None:
    status, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert status == 200
    assert "1 result" in html and "Refund times" in html and "date unknown" in html and "no date in the file" in html
    assert "1 explorer · handbook · 0 documents opened · 1 quote verified" in html
    assert "searched for refund · paid back" in html
    assert f"{address_of(thread)}#quote" in html


def test_what_was_read_is_told_in_the_order_in_which_it_was_looked_for(house: House) -> None:
    rounds = ["refund", "paid back", "money", "days"]

    thread = house.ask([*(sends(task=task(variants=(each,))) for each in rounds), emits()], [handoff()])

    assert [each.variants for each in coverage_of(run_of(thread)).readings] == [[each] for each in rounds]


def test_a_sentence_without_evidence_is_marked(house: House, thread: Thread) -> None:
    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    assert "1 sentence of the answer names no evidence" in html
    assert '<li dir="auto">Gift cards are a world of their own.</li>' in html


def test_the_mark_behind_a_quote_stands_for_all_of_its_sentences(house: House) -> None:
    quoted = "> Refunds are paid within five working days. A clerk\n> signs each of them first. [1]"
    alone = "> Vouchers are paid at once. They never run out of time.\n\nRefunds are never late at all."

    thread = house.ask([sends(), emits(answer=f"{quoted}\n\n{alone}")], [handoff()])

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")
    assert "3 sentences of the answer name no evidence" in html
    assert "Vouchers are paid at once.</li>" in html and '<li dir="auto">Refunds are never late at all.</li>' in html


def test_the_passage_opens_with_the_quote_marked(house: House, thread: Thread) -> None:
    status, html = page(house.ground.alice, address_of(thread))

    assert status == 200
    assert '<mark id="quote" tabindex="-1">Refunds are paid within five working days.</mark>' in html
    assert "Gift cards are paid back as gift cards." in html


def test_the_card_shows_a_quote_as_it_is_read_and_the_document_as_it_is_written(house: House, tmp_path: Path) -> None:
    (tmp_path / "returns" / "refunds.md").write_text("# Refunds\n\n| Refunds | **5** working days |\n")
    index_root(house.root)
    row = "| Refunds | **5** working days |"

    house.ask([sends(), emits(excerpt=row)], [handoff(candidate(evidence=row))])

    evidence = Evidence.objects.get()
    thread = evidence.run.turn.thread
    assert evidence.excerpt == row
    assert '<p dir="auto">Refunds · 5 working days</p>' in page(house.ground.alice, f"/c/{thread.chat_id}/")[1]
    assert row in page(house.ground.alice, address_of(thread))[1]


def test_where_a_quote_stands_is_told_by_its_sheet_in_the_readers_language(house: House, tmp_path: Path) -> None:
    book = {"Overview": row(1, "Site", "Lead"), "Costs Q3": row(1, "Item", "Amount") + row(2, "Base plate", "92000")}
    (tmp_path / "costs.xlsx").write_bytes(xlsx(book))
    index_root(house.root)
    words = "- Item: Base plate; Amount: 92000"
    found = candidate(source="handbook/costs.xlsx", evidence=words, locator="line 6, Costs")

    thread = house.ask([sends(), emits(source="handbook/costs.xlsx", excerpt=words)], [handoff(found)])
    passage, german = address_of(thread), {"headers": {"Accept-Language": "de"}}
    browser = Client()
    browser.force_login(house.ground.alice)

    assert Evidence.objects.get().locator == "sheet Costs Q3, line 6, Costs"
    assert "</span>, sheet Costs Q3, line 6</a>" in page(house.ground.alice, f"/c/{thread.chat_id}/")[1]
    assert "To the quote, sheet Costs Q3, line 6" in page(house.ground.alice, passage)[1]
    assert "</span>, Blatt Costs Q3, Zeile 6</a>" in browser.get(f"/c/{thread.chat_id}/", **german).content.decode()
    assert '<div class="place" data-n="4" dir="auto">Blatt Costs Q3</div>' in browser.get(passage, **german).content.decode()


@pytest.mark.parametrize(
    ("locator", "told"),
    [
        ("", "line 3"),
        ("lines 3-4", "line 3"),
        ("line 3, Refunds", "line 3"),
        ("page 12", "page 12"),
        ("page 2, line 3, Refunds", "page 2, line 3"),
        ("chapter 4", "chapter 4"),
    ],
)
def test_a_place_is_the_page_and_the_line_as_far_as_they_are_known(thread: Thread, locator: str, told: str) -> None:
    evidence = Evidence.objects.get()
    evidence.locator = locator

    assert place(evidence) == told


def test_a_summary_that_only_begins_the_quote_is_not_shown_beside_it(house: House) -> None:
    words = "Refunds are paid within five working days."

    thread = house.ask([sends(), emits(summary="Refunds are paid within …")], [handoff(candidate(evidence=words))])

    assert run_of(thread).results.get().summary not in page(house.ground.alice, f"/c/{thread.chat_id}/")[1]


def test_a_document_that_changed_since_still_shows_what_stood_there(house: House, thread: Thread, tmp_path: Path) -> None:
    (tmp_path / "returns" / "refunds.md").write_text("# Refunds\n\nRefunds are paid within ten working days.\n")
    index_root(house.root)

    _, html = page(house.ground.alice, address_of(thread))

    assert "and says this no more" in html
    assert '<mark id="quote" tabindex="-1">Refunds are paid within five working days.</mark>' in html
    assert "What stands there now" in html and "Refunds are paid within ten working days." in html


def test_a_document_that_only_grew_shows_the_quote_where_it_stands_now(house: House, thread: Thread, tmp_path: Path) -> None:
    (tmp_path / "returns" / "refunds.md").write_text(f"# New\n\nRead this first.\n\n{TEXT}")
    index_root(house.root)

    _, html = page(house.ground.alice, address_of(thread))

    assert "The quote still stands in it." in html and "To the quote, now in line 7" in html
    assert 'data-n="7" dir="auto"><mark id="quote" tabindex="-1">Refunds are paid within five working days.</mark>' in html


def test_a_document_that_is_gone_leaves_the_quote_to_whom_the_conversation_belongs(
    house: House, thread: Thread, tmp_path: Path
) -> None:
    share_thread(thread, username="bob", by=house.ground.alice)
    Evidence.objects.update(document=None)

    status, html = page(house.ground.alice, address_of(thread))

    assert status == 200 and "The document is not there any more." in html
    assert page(house.ground.bob, address_of(thread))[0] == 404


def test_an_unchanged_document_says_so_and_leads_back_to_the_result(house: House, thread: Thread) -> None:
    _, html = page(house.ground.alice, address_of(thread))

    result = run_of(thread).results.get()
    assert "as far as looks into the folder since then tell" in html
    index_root(house.root)
    assert "as far as the last look into the folder" in page(house.ground.alice, address_of(thread))[1]
    assert f'#r{result.run.session}-1"' in html and f'href="/c/{thread.chat_id}/?at=' in html


def test_the_answer_links_its_numbers_to_the_results(house: House, thread: Thread) -> None:
    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")

    anchor = f"r{run_of(thread).session}-1"
    assert f'<a class="cite" href="#{anchor}" aria-label="Result 1: Refund times">1</a>' in html
    assert f'<li id="{anchor}" tabindex="-1">' in html


def test_a_quote_over_several_lines_of_a_page_is_marked_line_by_line(thread: Thread) -> None:
    text = "<!-- page 1 -->\nOne.\n\n<!-- page 2 -->\nRefunds are paid\nwithin five days. Two.\n"
    evidence = Evidence.objects.get()
    document = evidence.document
    document.path, document.text = "returns/refunds.pdf", text
    evidence.start, evidence.end = text.index("Refunds"), text.index(" Two.")
    evidence.excerpt = text[evidence.start : evidence.end]

    shown = passage_of(evidence)

    assert [(line.number, line.words) for line in shown.lines if line.words] == [
        (5, "Refunds are paid"),
        (6, "within five days."),
    ]
    assert [(line.number, line.before) for line in shown.lines if line.kind == "place"] == [(1, "page 1"), (4, "page 2")]
    assert (shown.state, shown.place, shown.line) == ("same", "page 2", 5)


def test_a_sheet_may_have_any_name_and_a_comment_in_a_line_is_none(thread: Thread) -> None:
    evidence = Evidence.objects.get()
    document = evidence.document
    document.path, document.text = "costs.xlsx", f"<!-- sheet <A> -->\n<!-- a --> b <!-- c -->\n{evidence.excerpt}"
    evidence.start = document.text.index(evidence.excerpt)
    evidence.end = len(document.text)

    shown = passage_of(evidence)

    assert (shown.place, [line.kind for line in shown.lines]) == ("sheet <A>", ["place", "", ""])


def test_of_a_long_document_what_is_far_from_the_quote_is_left_out(thread: Thread) -> None:
    evidence = Evidence.objects.get()
    before = "".join(f"Line {number}.\n" for number in range(1000))
    evidence.document.text = before + evidence.excerpt + "x" * 9000 + before.replace("L", "\nL", 1)
    evidence.start, evidence.end = len(before), len(before) + len(evidence.excerpt)

    shown = passage_of(evidence)

    assert (shown.lines[0].number, shown.line, shown.cut_before, shown.cut_after) == (801, 1001, True, True)
    assert all(len(line.before) + len(line.after) < 5000 for line in shown.lines)


def test_report_a1_a_shared_conversation_opens_no_folder_that_its_reader_may_not_see(house: House, thread: Thread) -> None:
    share_thread(thread, username="bob", by=house.ground.alice)
    assert page(house.ground.bob, address_of(thread))[0] == 200

    house.root.groups.add(Group.objects.create(name="returns desk"))

    assert page(house.ground.bob, address_of(thread))[0] == 404
    assert page(house.ground.charlie, address_of(thread))[0] == 404


def test_s06_who_may_see_the_folder_no_more_keeps_the_words_that_were_said_and_gets_no_others(
    house: House, thread: Thread
) -> None:
    house.root.groups.add(Group.objects.create(name="returns desk"))
    words = "Gift cards are paid back as gift cards."
    scripted.register("apes-scout", [sends(), emits(), sends(), "Nothing.", "Nothing.", "Nothing."])
    scripted.register("apes-explorer", [handoff(candidate(evidence=words, locator="line 4"))])

    send_message(thread, author=house.ground.alice, text=QUERY)
    run_all()

    _, html = page(house.ground.alice, f"/c/{thread.chat_id}/")
    assert "Refunds are paid within five working days." in html and words not in html
    assert Evidence.objects.count() == 1
    assert page(house.ground.alice, address_of(thread))[0] == 404


def test_s06_explorers_find_nothing_in_a_folder_that_the_asker_may_not_see(house: House) -> None:
    house.root.groups.add(Group.objects.create(name="returns desk"))

    thread = house.ask([sends(), "Nothing.", "Nothing.", "Nothing."], [handoff()])

    assert [call.code for call in thread.turns.get().calls.all()] == ["DISPATCH_CWD_OUTSIDE_ROOTS"]
    assert not Evidence.objects.exists()


def test_a39_feedback_is_given_by_its_button_and_taken_back(house: House, thread: Thread) -> None:
    browser = Client()
    browser.force_login(house.ground.alice)
    result = run_of(thread).results.get()
    address = f"/c/{thread.chat_id}/results/{result.feedback_id}/"

    for useful in ("1", "-1", "0"):
        assert browser.post(address, {"useful": useful}).status_code in (204, 302)
        result.refresh_from_db()
        assert result.feedback == int(useful)
    assert browser.post(address, {"useful": "7"}).status_code == 400
    assert browser.post(f"/c/{thread.chat_id}/results/nothing:1/", {"useful": "1"}).status_code == 404


def test_report_k2_evidence_stays_with_its_own_answer(house: House, thread: Thread) -> None:
    other = "And gift cards?"
    words = "Gift cards are paid back as gift cards."
    entry = emits(excerpt=words, answer="As gift cards [1].")
    scripted.register("apes-scout", [sends(), emits(), sends(task=task(other)), entry])
    scripted.register("apes-explorer", [handoff(candidate(evidence=words, locator="line 4"), query=other)])

    send_message(thread, author=house.ground.alice, text=other)
    run_all()

    first, second = (turn.research for turn in thread.turns.order_by("pk"))
    assert [each.excerpt for each in first.evidence.all()] == ["Refunds are paid within five working days."]
    assert [each.excerpt for each in second.evidence.all()] == [words]
    assert first.query == QUERY and second.query == other


def test_report_k3_each_result_cites_its_own_passage(house: House) -> None:
    words = ("Refunds are paid within five working days.", "Gift cards are paid back as gift cards.")
    results = [
        {"number": number, "title": f"T{number}", "summary": "S", "evidence": [{"excerpt": text}], "confidence": 1}
        for number, text in enumerate(words, 1)
    ]
    mapping = [
        {"number": number, "source": "handbook/returns/refunds.md", "method": "posix", "content": text}
        for number, text in enumerate(words, 1)
    ]

    thread = house.ask([sends(), emits(results=results, mapping=mapping)], [handoff()])

    cited = [[each.excerpt for each in result.evidence.all()] for result in run_of(thread).results.all()]
    assert cited == [[words[0]], [words[1]]]
