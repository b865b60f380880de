"""S06: another team's documents are neither found nor read, whatever a model is told to ask for."""

import json
from dataclasses import replace

import pytest

from assistants.documents import indexing
from assistants.documents.indexing import index_root
from assistants.models import DocumentRoot, ToolCall
from assistants.tools import registry
from tests.kit.turns import last_turn, run_all

SECRET = "bearsecret4417"
OWN = "apefact8852"


@pytest.fixture
def roots(ground, tmp_path, monkeypatch):
    """Both teams have a folder of the same name with a file of the same name; the bears have one more file."""
    for name in ("search_documents", "read_document"):
        # In the test's own thread, since another one would not see what the test has not committed.
        monkeypatch.setitem(registry._tools, name, replace(registry.find_tool(name), in_transaction=True))
    indexing.forget_checks()
    made = {}
    for tenant, text in ((ground.apes, OWN), (ground.bears, SECRET)):
        folder = tmp_path / tenant.slug
        (folder / "sub").mkdir(parents=True)
        (folder / "rules.md").write_text(f"# Rules\n\nThe word is {text}.\n")
        made[tenant.slug] = DocumentRoot.objects.create(tenant=tenant, name="handbook", path=str(folder))
    (tmp_path / "bears" / "sub" / "only-bears.md").write_text(f"# Honey\n\nHidden at {SECRET}.\n")
    for root in made.values():
        index_root(root)
    return made


def ask(ground, owner, *calls):
    """Lets the owner's assistant make these calls and gives the results, as the model reads them."""
    ground.lead.tools = ["search_documents", "read_document"]
    ground.lead.save()
    steps = [{"calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    ground.script([*steps, "Done."])
    thread = ground.open(owner=owner)
    run_all()
    assert last_turn(thread).state == "done"
    return list(ToolCall.objects.filter(turn__thread=thread).order_by("round"))


QUERIES = [SECRET, "honey", "hidden", "rules", "only-bears", "*", "r1 r2 r3", "root:r2", f'" OR {SECRET}', f"{SECRET[:6]}*"]
NAMES = ["handbook/sub/only-bears.md", "only-bears.md", "sub/only-bears.md", "bears/handbook/sub/only-bears.md",
         "../bears/sub/only-bears.md", "handbook/../../bears/rules.md", "%2e%2e/bears/rules.md", "file:///etc/passwd",
         "/etc/passwd", "handbook/rules.md\x00", "2", "1"]  # fmt: skip


def test_s06_a_search_finds_nothing_of_another_team(ground, roots):
    calls = ask(ground, ground.alice, *(("search_documents", {"query": query}) for query in QUERIES[:6]))
    calls += ask(ground, ground.alice, *(("search_documents", {"query": query}) for query in QUERIES[6:]))

    results = "".join(call.result for call in calls)
    assert SECRET not in results.replace(f'"query": "{SECRET}"', "").replace(f'OR {SECRET}"', "")
    assert "only-bears.md" not in results and "Honey" not in results
    assert OWN in results


def test_s06_a_document_of_another_team_looks_like_none(ground, roots):
    calls = ask(ground, ground.alice, *(("read_document", {"document": name}) for name in NAMES[:6]))
    calls += ask(ground, ground.alice, *(("read_document", {"document": name}) for name in NAMES[6:]))

    results = "".join(call.result for call in calls)
    assert SECRET not in results and "Honey" not in results and "root:" not in results
    unknown = [call for call in calls if call.code == "DOCUMENT_UNKNOWN"]
    # The last but two is the team's own file, since a NUL is taken out of what a model writes.
    assert {call.code for call in calls if "rules.md" not in str(call.arguments)} <= {"DOCUMENT_UNKNOWN", "GUARD_BLOCKED"}
    words = {call.result.replace(call.arguments["document"], "NAME") for call in unknown if "only-bears" in str(call.arguments)}
    (invented,) = ask(ground, ground.alice, ("read_document", {"document": "only-apes.md"}))
    assert {word.partition("NAME")[0] for word in words} == {invented.result.partition("only-apes.md")[0]}


def test_s06_the_same_name_leads_to_ones_own_file(ground, roots):
    (mine,) = ask(ground, ground.alice, ("read_document", {"document": "handbook/rules.md"}))

    assert OWN in json.loads(mine.result)["text"]


@pytest.mark.parametrize(("public", "finds"), [(False, False), (True, True)])
def test_s06_a_visitor_reads_what_is_marked_public_and_nothing_else(ground, roots, client, public, finds):
    DocumentRoot.objects.filter(pk=roots["apes"].pk).update(public=public)
    steps = [{"calls": [{"name": "search_documents", "arguments": {"query": OWN}}]},
             {"calls": [{"name": "read_document", "arguments": {"document": "handbook/rules.md"}}]}, "Done."]  # fmt: skip
    guide = ground.assistant("guide", public=True, tools=["search_documents", "read_document"], script=steps)

    client.post("/c/", {"assistant": guide.pk, "text": "What is the word?"})
    run_all()

    results = ToolCall.objects.filter(turn__thread__owner=None).order_by("round")
    assert [f"is {OWN}" in call.result for call in results] == [finds, finds]


def test_s06_s04_a_sub_chat_reads_no_more_than_its_conversation(ground, roots):
    ground.assistant("reader", tools=["read_document"], script=[
        {"calls": [{"name": "read_document", "arguments": {"document": NAMES[0]}}]}, "Nothing."])  # fmt: skip
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "reader", "task": "Read"}}]}, "ok"])
    ground.open()
    run_all()

    read = ToolCall.objects.get(name="read_document")
    assert (read.code, SECRET in read.result) == ("DOCUMENT_UNKNOWN", False)


def test_s06_whoever_left_the_team_reads_only_what_is_public(ground, roots):
    ground.lead.tools = ["read_document"]
    ground.lead.save()
    ground.script([{"calls": [{"name": "read_document", "arguments": {"document": "handbook/rules.md"}}]}, "Done."])
    thread = ground.open(owner=ground.bob)
    ground.bob.memberships.all().delete()

    run_all()

    assert not ToolCall.objects.filter(turn__thread=thread, result__contains=OWN).exists()


def test_s06_there_is_no_address_under_which_a_file_can_be_fetched(ground, roots, client):
    client.force_login(ground.alice)

    guessed = ["/documents/", "/documents/1/", "/media/rules.md", "/static/rules.md", "/static/../rules.md", "/data/secret.key"]
    guessed += [
        "/static/%2e%2e/secret.key",
        "/.env",
        "/.git/config",
        "/manage.py",
        "/taskmonkey.sqlite3",
        "/metrics",
        "/static/",
    ]
    assert {client.get(path).status_code for path in guessed} == {404}
