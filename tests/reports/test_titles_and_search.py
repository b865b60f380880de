"""Reports Z3 and Z4: a conversation always has a title, and is found by it and by what was said."""

import pytest
from django.db import connection

from assistants.conversations import search_index
from assistants.conversations.deletion import delete_thread
from assistants.conversations.search import search
from assistants.conversations.titles import clean_title, rename_thread
from assistants.models import LLMProfile, Message, Thread
from assistants.turns import branches, executors, lifecycle
from tests.kit.browsers import HTMX, signed_in
from tests.kit.long_thread import long_thread
from tests.kit.page import Page
from tests.kit.stub_llm import StubLLM, finish, say, status
from tests.kit.turns import run_all, run_jobs
from tests.kit.words import said, url


@pytest.fixture
def stub(ground):
    """The lead's model is a server that speaks like OpenAI."""
    with StubLLM() as server:
        profile = LLMProfile.objects.create(
            tenant=ground.apes, name="stub", provider="openai", model="stub", base_url=server.url, input_price=1, output_price=2
        )
        profile.set_key("sk-test")
        profile.save()
        ground.lead.profile = profile
        ground.lead.save()
        yield server


def titled(stub, *replies):
    """What the server answers to the question for a title, and the same answer to everything else."""
    stub.when(system="Write a title").script(*replies)
    stub.script_forever(spoken("Here is my answer."))


def spoken(text):
    return [say(text), finish("stop")]


def test_a_model_makes_the_title_once_after_the_first_answer(ground, stub):
    titled(stub, spoken("Title: “Jump in returns”."), spoken("Another title"))
    thread = ground.open("Why did returns jump so much in week 47?")
    run_all()
    assert Thread.objects.get().title == "Why did returns jump so much in week 47?"
    page = Page(signed_in(ground.alice), thread)

    run_jobs()
    lifecycle.send_message(thread, author=ground.alice, text="And week 48?")
    run_all()
    run_jobs()

    page.poll()
    thread.refresh_from_db()
    assert (thread.title, thread.title_by) == ("Jump in returns", "model")
    assert sum("Write a title" in request.system for request in stub.requests) == 1
    assert "Jump in returns" in page.at("heading").text() and "Jump in returns" in page.sidebar()


def test_the_title_call_is_charged_to_the_turn(ground, stub):
    titled(stub, spoken("Returns"))
    thread = ground.open("Why did returns jump?")
    run_all()
    turn = thread.turns.get()

    run_jobs()

    before, turn = turn, thread.turns.get()
    assert turn.input_tokens > before.input_tokens and turn.cost > before.cost and turn.model_calls == before.model_calls


@pytest.mark.parametrize("failure", [[status(400)], [status(503)], [say(""), finish("stop")]], ids=["400", "503", "empty"])
def test_report_z3_when_the_title_call_fails_the_first_words_stay_and_it_is_not_tried_again(ground, stub, failure):
    titled(stub, failure)
    thread = ground.open("Why did returns jump?")
    run_all()
    run_jobs()
    lifecycle.send_message(thread, author=ground.alice, text="And now?")
    run_all()
    run_jobs()

    thread.refresh_from_db()
    assert (thread.title, thread.title_by) == ("Why did returns jump?", "text")
    assert sum("Write a title" in request.system for request in stub.requests) == 1


def test_report_z3_a_persons_title_is_never_overwritten(ground, stub):
    titled(stub, spoken("A model's idea"))
    thread = ground.open("Why?")
    run_all()
    job = executors.jobs[0]

    rename_thread(thread, "My own name")
    run_jobs()
    job()

    thread.refresh_from_db()
    assert (thread.title, thread.title_by) == ("My own name", "person")


@pytest.mark.parametrize("change", [{"makes_titles": False}, {"provider": "scripted"}, {"provider": "builtin"}])
def test_a_profile_that_makes_no_titles_is_not_asked(ground, stub, change):
    titled(stub, spoken("Never"))
    LLMProfile.objects.filter(name="stub").update(**change)
    thread = ground.open("Why?")
    run_all()
    run_jobs()

    thread.refresh_from_db()
    assert thread.title == "Why?" and not any("Write a title" in request.system for request in stub.requests)


def test_a_sub_chat_keeps_its_task_as_its_title(ground, stub):
    titled(stub, spoken("Never"))
    ground.assistant("stock", profile=ground.lead.profile)
    ground.lead.profile = None
    from tests.kit.world import scripted_profile

    call = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count B12345"}}
    ground.lead.profile = scripted_profile(ground.apes, "delegating", [{"calls": [call]}, "42."])
    ground.lead.save()
    ground.open("How many?")
    run_all()
    run_jobs()

    assert set(Thread.objects.values_list("title", flat=True)) == {"How many?", "Count B12345"}


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ('"Returns in week 47"', "Returns in week 47"),
        ("# Titel: Rücksendungen\nErklärung", "Rücksendungen"),
        ("\n\n**Bold idea**\n", "Bold idea"),
        ("x" * 300, "x" * 79 + "…"),
        ("  \n ", ""),
        ("<b>Hi</b>", "<b>Hi</b>"),
    ],
)
def test_a_title_is_one_clean_line_whatever_the_model_wrote(written, title):
    assert clean_title(written) == title


@pytest.mark.parametrize(("title", "code"), [("", "TITLE_EMPTY"), ("  \n ", "TITLE_EMPTY"), ("x" * 201, "TITLE_TOO_LONG")])
def test_a_bad_title_is_refused_with_a_sentence(ground, title, code):
    thread = ground.open("Hi")

    answer = signed_in(ground.alice).post(url("rename_thread", thread), {"title": title})

    assert answer.status_code == 400 and answer.json()["code"] == code and answer.json()["field"] == "title"


def found(query):
    return [each.thread.title for each in search(query, Thread.objects.all())]


@pytest.fixture
def index(request, monkeypatch):
    """The database's own index, and the scan for databases that have none: they must agree."""
    if request.param == "scan":
        monkeypatch.setattr("assistants.conversations.search.index_of", search_index.Scan)


@pytest.mark.parametrize("index", ["own", "scan"], indirect=True)
def test_report_z4_a_renamed_conversation_is_found_at_once_and_no_longer_by_its_old_name(ground, index):
    thread = ground.open("Hello there")
    run_all()
    Message.objects.filter(thread=thread, role="user").update(parts=[{"type": "text", "text": "Nothing"}])

    rename_thread(thread, "Kündigung vorbereiten")

    assert found("kündigung") == found("KUNDIG") == found("vorbereiten kündi") == ["Kündigung vorbereiten"]
    assert found("there") == []


@pytest.mark.parametrize("index", ["own", "scan"], indirect=True)
def test_report_z4_bodies_are_found_by_all_their_words_and_only_when_they_are_finished(ground, index):
    ground.script(["The zipper of B12345 tears at the seam.", "x"])
    thread = ground.open("Complaints?")
    run_all()
    queued = ground.open("Other")
    lifecycle.send_message(queued, author=ground.alice, text="Unread zipper")

    hits = search("zipper seam", Thread.objects.all())

    assert [(each.thread, [p.sequence for p in each.passages]) for each in hits] == [
        (thread, [said(thread, "The zipper of B12345 tears at the seam.").sequence])
    ]
    assert any(piece.hit for piece in hits[0].passages[0].pieces)
    assert "".join(piece.text for piece in hits[0].passages[0].pieces).strip("…") in "The zipper of B12345 tears at the seam."
    assert found("zipper button") == []


@pytest.mark.parametrize("index", ["own", "scan"], indirect=True)
def test_an_excerpt_has_no_marks_of_markdown_around_its_words(ground, index):
    ground.script(["## Where\n\nIn `a.md`:\n> A **canary** and 2**3"])
    ground.open("Go")
    run_all()

    shown = "".join(piece.text for piece in search("canary", Thread.objects.all())[0].passages[0].pieces)

    assert " ".join(shown.split()) == "Where In a.md: A canary and 2**3"


@pytest.mark.parametrize("index", ["own", "scan"], indirect=True)
def test_report_z4_a_deleted_conversation_is_gone_from_the_search(ground, index):
    ground.script(["A canary sings."])
    thread = ground.open("Birds?")
    run_all()
    assert found("canary") == ["Birds?"]

    delete_thread(thread, by=ground.alice, name="Alice")

    assert found("canary") == found("birds") == []


def test_report_z4_a_hit_opens_at_its_message(ground):
    thread = long_thread(ground, 250)
    browser = signed_in(ground.alice)

    results = browser.get("/search/", {"q": "answer 17"}, headers=HTMX).content.decode()

    address = f"/c/{thread.chat_id}/?at=36#m36"
    assert f'href="{address}"' in results
    page = browser.get(address).content.decode()
    assert 'id="m36"' in page and "Answer 17." in page
    assert 'id="m36"' not in browser.get(url("thread", thread)).content.decode()


def test_report_z4_a_hit_at_the_end_opens_the_living_page(ground):
    thread = long_thread(ground, 250)

    page = signed_in(ground.alice).get(url("thread", thread), {"at": 240}).content.decode()

    assert 'id="m240"' in page and "data-seq" in page


def test_report_z4_a_hit_on_another_branch_opens_that_branch_to_read(ground):
    ground.script({"rules": [{"when": {}, "reply": "Answer to {{user}}"}]})
    thread = ground.open("A canary")
    run_all()
    branches.edit_message(said(thread, "A canary"), author=ground.alice, text="A sparrow")
    run_all()
    old = said(thread, "Answer to A canary")

    page = signed_in(ground.alice).get(url("thread", thread), {"at": old.sequence}).content.decode()

    assert "Answer to A canary" in page and "A sparrow" not in page.split('id="excerpt"')[1]
    assert 'id="composer"' not in page and "data-seq" not in page


def test_the_index_follows_a_table_that_a_migration_builds_anew(ground):
    """SQLite makes a new table for an altered one and drops the old with its triggers."""
    ground.open("Before the change")
    of_thread, of_message = ("", "") if connection.vendor == "sqlite" else (" ON assistants_thread", " ON assistants_message")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER search_title_added{of_thread}")
        cursor.execute(f"DROP TRIGGER search_message_changed{of_message}")
    ground.open("During the change")

    search_index.keep_in_step()

    ground.open("After the change")
    assert sorted(found("change")) == ["After the change", "Before the change", "During the change"]


def test_words_on_their_way_into_a_title_can_not_write_markup(ground):
    """X1: a title is text, wherever it is shown."""
    thread = ground.open("Hi")
    rename_thread(thread, "<script>alert(1)</script> canary")
    browser = signed_in(ground.alice)

    pages = [browser.get("/search/?q=canary", headers=HTMX), browser.get(url("thread", thread)), browser.get("/inbox/")]

    assert all("<script>alert(1)" not in page.content.decode() for page in pages)
