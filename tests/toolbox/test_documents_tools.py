"""The tools that search and read documents, called as a model calls them."""

import json

import pytest

from assistants.documents import indexing
from assistants.documents.reading import read_lines
from assistants.errors import CodedError
from assistants.models import DocumentRoot, Membership, Turn
from assistants.tools.invoke import as_text, shown_to_model
from assistants.tools.registry import find_tool
from tests.kit.turns import last_turn, replies, run_all

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "# Returns\n\nCustomers have 30 days.\n\n## Sale\n\nSale items have 14 days.\n"


@pytest.fixture
def folder(tmp_path):
    indexing.forget_checks()
    made = tmp_path / "docs"
    made.mkdir()
    (made / "returns.md").write_text(TEXT)
    (made / "refunds.md").write_text("# Refunds\n\nRefunds take five days.\n")
    return made


@pytest.fixture
def root(ground, folder):
    ground.lead.tools = ["search_documents", "read_document"]
    ground.lead.save()
    return DocumentRoot.objects.create(tenant=ground.apes, name="handbook", path=str(folder))


def call(ground, name, arguments, **who):
    ground.script([{"calls": [{"name": name, "arguments": arguments}]}, "Done."])
    thread = ground.open("Please look", **who)
    run_all()
    assert replies(thread)[-1] == "Done."
    return last_turn(thread).calls.get()


def test_put_a_folder_in_and_ask(ground, root):
    made = call(ground, "search_documents", {"query": "How many days do customers have?"})

    assert made.outcome == "ok"
    result = json.loads(made.result)
    assert set(result) == {"query", "total", "results"}
    assert set(result["results"][0]) == {"document", "place", "title", "passage", "score"}
    assert result["results"][0]["document"] == "handbook/returns.md"
    assert result["results"][0]["passage"] == TEXT.strip()


def test_a_file_that_is_put_in_later_is_found_too(ground, root, folder):
    call(ground, "search_documents", {"query": "days"})
    (folder / "late.md").write_text("The canoe is late.")
    indexing.forget_checks()

    made = call(ground, "search_documents", {"query": "canoe"})

    assert [each["document"] for each in json.loads(made.result)["results"]] == ["handbook/late.md"]


def test_a_team_without_documents_is_told_so(ground):
    ground.lead.tools = ["search_documents"]
    ground.lead.save()

    made = call(ground, "search_documents", {"query": "days"})

    assert (made.outcome, made.code) == ("refused", "NO_DOCUMENTS")


def test_lines_of_a_document_are_read(ground, root):
    made = call(ground, "read_document", {"document": "handbook/returns.md", "start": 3, "lines": 3})

    assert json.loads(made.result) == {
        "document": "handbook/returns.md",
        "start": 3,
        "end": 5,
        "total_lines": 8,
        "text": "Customers have 30 days.\n\n## Sale",
    }


@pytest.mark.parametrize(
    "name", ["returns.md", "RETURNS.md", "`handbook/returns.md`", " handbook/returns.md", "Handbook/Returns.md"]
)
def test_a_name_that_can_mean_only_one_document_will_do(ground, root, name):
    assert read_lines([root], name, start=1, lines=5).document == "handbook/returns.md"


def test_an_unknown_document_is_refused_with_the_names_near_it(ground, root):
    made = call(ground, "read_document", {"document": "handbook/return-policy.md"})

    assert (made.outcome, made.code) == ("refused", "DOCUMENT_UNKNOWN")
    assert "handbook/returns.md" in made.result


def test_reading_behind_the_end_gives_no_text(ground, root):
    made = call(ground, "read_document", {"document": "handbook/returns.md", "start": 100})

    result = json.loads(made.result)
    assert (result["text"], result["start"], result["end"], result["total_lines"]) == ("", 100, 8, 8)


@pytest.mark.parametrize(
    "name",
    [
        "handbook/../../etc/passwd",
        "/etc/passwd",
        "handbook//etc/passwd",
        "file:///etc/passwd",
        "handbook/returns.md/..",
        "%",
        "..",
        "/",
    ],
)
def test_s33_no_name_leads_out_of_the_documents(ground, root, name):
    """The guard before the tool may refuse such names already; the tool does not rely on it."""
    with pytest.raises(CodedError) as refused:
        read_lines([root], name, start=1, lines=5)

    assert refused.value.code == "DOCUMENT_UNKNOWN"
    assert "root:" not in call(ground, "read_document", {"document": name}).result


def test_s06_another_tenants_documents_are_unknown(ground, root, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "plan.md").write_text("CANARY plan")
    DocumentRoot.objects.create(tenant=ground.bears, name="secret", path=str(theirs), public=True)
    indexing.index_root(DocumentRoot.objects.get(name="secret"))

    for name, arguments in (("search_documents", {"query": "canary"}), ("read_document", {"document": "secret/plan.md"})):
        made = call(ground, name, arguments)
        assert "CANARY" not in made.result and "secret/plan.md" not in made.result.replace("“secret/plan.md”", "")


def test_whoever_has_left_the_team_finds_nothing_more(ground, root):
    ground.script([{"calls": [{"name": "search_documents", "arguments": {"query": "days"}}]}, "Done."])
    thread = ground.open("Please look")
    Membership.objects.filter(user=ground.alice).delete()

    run_all()

    turn = last_turn(thread)
    assert turn.state != Turn.State.DONE or turn.calls.get().code == "NO_DOCUMENTS"
    assert not any("30 days" in made.result for made in turn.calls.all())


def test_j8_a_long_document_is_read_in_parts_of_whole_lines(ground, root, folder):
    (folder / "long.log").write_text("".join(f"line {number} {'x' * 90}\n" for number in range(1, 5001)))
    seen, start = [], 1
    while start <= 5000:
        part = json.loads(
            call(ground, "read_document", {"document": "handbook/long.log", "start": start, "lines": 2000}).result
        )
        assert len(shown_to_model(as_text(part))) < 64 * 1024 and "[Cut" not in shown_to_model(as_text(part))
        seen += part["text"].split("\n")
        start = part["end"] + 1

    assert [line.split(" ")[1] for line in seen if line] == [str(number) for number in range(1, 5001)]


def test_j8_a_line_longer_than_can_be_shown_is_cut_and_says_so(ground, root, folder):
    (folder / "line.log").write_text("y" * 100_000 + "\nnext\n")

    part = json.loads(call(ground, "read_document", {"document": "handbook/line.log"}).result)

    assert (len(part["text"]), part["end"], part["note"]) == (40_000, 1, "This line is longer than can be shown.")


def test_both_read_private_and_take_in_untrusted_text():
    for name in ("search_documents", "read_document"):
        made = find_tool(name)
        assert (made.reads_private, made.takes_untrusted, made.sends_out, made.effect) == (True, True, False, "pure")
