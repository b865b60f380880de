"""Each sender is answered in its own way: a script, a plain form, a program; visitors and preferences too."""

import pytest

from assistants.models import Assistant, Thread, User
from assistants.turns import lifecycle
from tests.kit.browsers import HTMX, PAGE, PROGRAM, signed_in, stranger
from tests.kit.page import Page
from tests.kit.turns import run_all
from tests.kit.words import shown, url


def test_a_refusal_is_data_for_a_script_and_a_page_for_a_plain_form(ground):
    thread = ground.open("Hi")
    run_all()
    text = "x" * (256 * 1024 + 1)

    script = signed_in(ground.alice, **HTMX).post(url("send_message", thread), {"text": text})
    form = signed_in(ground.alice, **PAGE).post(url("send_message", thread), {"text": text})

    assert set(script.json()) == {"code", "field", "message", "fix"} and script.json()["code"] == "MESSAGE_TOO_LONG"
    assert form.status_code == 400 and "longer than 256 KB" in form.content.decode() and text in form.content.decode()


def test_the_way_back_from_a_refusal_leads_to_our_own_pages_only(ground):
    thread = ground.open("Hi")
    browser = signed_in(ground.alice, **PAGE)

    own = browser.post(url("send_message", thread), headers={"Referer": f"http://testserver{url('thread', thread)}"})
    foreign = browser.post(url("send_message", thread), headers={"Referer": "http://evil.example/"})

    assert f'href="http://testserver{url("thread", thread)}"' in own.content.decode()
    assert 'href="/"' in foreign.content.decode() and "evil.example" not in foreign.content.decode()


def test_an_accepted_command_is_a_redirect_for_a_form_and_facts_for_a_program(ground):
    thread = ground.open("Hi")
    run_all()

    form = signed_in(ground.alice, **PAGE).post(url("send_message", thread), {"text": "Two"})
    program = signed_in(ground.alice, **PROGRAM).post(url("send_message", thread), {"text": "Three"})

    assert form["Location"] == url("thread", thread)
    assert set(program.json()) == {"chat_id", "message", "turn"} and program.json()["chat_id"] == thread.chat_id


@pytest.mark.parametrize(("headers", "status"), [(PAGE, 302), (HTMX, 401), (PROGRAM, 401), ({}, 401)])
def test_who_is_not_signed_in_is_asked_to(ground, headers, status):
    thread = ground.open("Hi")

    answer = stranger(**headers).post(url("send_message", thread), {"text": "x"})

    assert answer.status_code == status
    assert answer["Location"] == "/login/?next=/" if status == 302 else answer.json()["code"] == "SIGNED_OUT"


def test_a_command_without_its_token_is_refused(ground):
    """S14: no command works across sites."""
    from django.test import Client

    thread = ground.open("Hi")
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ground.alice)

    assert browser.post(url("delete_thread", thread)).status_code == 403 and Thread.objects.exists()


def test_a_deleted_conversation_leads_home_and_its_open_page_is_gone(ground):
    thread = ground.open("Hi")
    run_all()
    browser = signed_in(ground.alice)

    answer = browser.post(url("delete_thread", thread), headers=HTMX)
    poll = browser.get(url("thread_events", thread), {"after": 1})

    assert answer["HX-Redirect"] == "/" and poll.status_code == 404 and not Thread.objects.exists()


@pytest.mark.parametrize("after", ["", "x", "-1", "99999", "1" * 40])
def test_an_odd_cursor_gets_one_clear_reset(ground, after):
    thread = ground.open("Hi")

    assert signed_in(ground.alice).get(url("thread_events", thread), {"after": after}).json() == {"reset": True}


def test_preferences_are_kept_with_the_person_and_the_language_greets_them_at_the_door(ground):
    browser = signed_in(ground.alice, **PAGE)

    saved = browser.post("/preferences/", {"theme": "dark", "language": "de"}, headers={"Referer": "http://testserver/inbox/"})
    page = browser.get("/").content.decode()
    browser.post("/logout/")
    door = browser.get("/login/").content.decode()

    alice = User.objects.get(username="alice")
    assert (alice.theme, alice.language) == ("dark", "de") and saved["Location"] == "http://testserver/inbox/"
    assert 'data-theme="dark"' in page and '<html lang="de"' in page and '<html lang="de"' in door


def test_the_language_of_a_person_comes_along_when_they_sign_in_elsewhere(ground):
    User.objects.filter(username="bob").update(language="de")
    browser = stranger(**PAGE)

    browser.post("/login/", {"username": "bob", "password": "secret"})

    assert '<html lang="de"' in browser.get("/").content.decode()


@pytest.mark.parametrize("data", [{"theme": "pink"}, {"language": "xx"}, {"language": "../de"}])
def test_an_unknown_preference_is_refused(ground, data):
    answer = signed_in(ground.alice).post("/preferences/", data)

    assert answer.status_code == 400 and answer.json()["code"] == "BAD_INPUT"


def test_one_preference_leaves_the_other_alone(ground):
    browser = signed_in(ground.alice, **HTMX)
    browser.post("/preferences/", {"theme": "dark", "language": "de"})

    answer = browser.post("/preferences/", {"theme": "light"})

    alice = User.objects.get(username="alice")
    assert (alice.theme, alice.language) == ("light", "de")
    assert answer.status_code == 204 and "HX-Refresh" not in answer.headers


def public(ground):
    return ground.assistant("front", public=True, script={"steps": ["Welcome."], "forever": True})


def test_a_visitor_chats_with_a_public_assistant_and_sees_only_their_own(ground):
    front = public(ground)
    one, two = stranger(**PAGE), stranger(**PAGE)
    assert one.get("/").status_code == 200

    place = one.post("/c/", {"assistant": front.pk, "text": "Hello", "key": "v1"})["Location"]
    again = one.post("/c/", {"assistant": front.pk, "text": "Hello", "key": "v1"})["Location"]
    run_all()

    thread = Thread.objects.get()
    assert place == again and Page(one, thread).texts() == ["Hello", "Welcome."]
    assert one.post(url("send_message", thread), {"text": "More"}).status_code == 302
    assert two.get(place)["Location"] == f"/login/?next={place}"
    assert "Hello" in one.get("/").content.decode() and "Hello" not in two.get("/").content.decode()


@pytest.mark.parametrize("change", [{"public": False}, {"enabled": False}])
def test_a_visitor_gets_no_further_when_the_assistant_is_no_longer_public(ground, change):
    front = public(ground)
    browser = stranger()
    browser.post("/c/", {"assistant": front.pk, "text": "Hello"})
    run_all()
    thread = Thread.objects.get()

    Assistant.objects.filter(pk=front.pk).update(**change)

    assert browser.post(url("send_message", thread), {"text": "More"}).status_code in (400, 401)
    assert shown(thread) == ["Hello", "Welcome."]


def test_a_visitor_gets_no_assistant_that_is_not_public(ground):
    browser = stranger()

    assert browser.get("/", headers=PAGE)["Location"] == "/login/"
    assert browser.post("/c/", {"assistant": ground.lead.pk, "text": "Hello"}).status_code == 401
    assert not Thread.objects.exists()


def test_a_visitor_may_send_only_so_many_messages_an_hour(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 3}
    front = public(ground)
    browser = stranger()
    browser.post("/c/", {"assistant": front.pk, "text": "One"})
    thread = Thread.objects.get()
    run_all()

    answers = [browser.post(url("send_message", thread), {"text": str(number)}) for number in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert answers[-1].json()["code"] == "TOO_MANY_MESSAGES" and thread.messages.filter(role="user").count() == 3


def test_throwing_the_cookie_away_does_not_help_a_visitor_for_ever(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 1}
    front = public(ground)

    codes = [stranger().post("/c/", {"assistant": front.pk, "text": "One"}).status_code for _ in range(12)]

    assert codes == [302] * 10 + [429] * 2


def test_members_are_not_counted_as_visitors(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 1}
    thread = ground.open("One")

    codes = {signed_in(ground.alice).post(url("send_message", thread), {"text": "x"}).status_code for _ in range(5)}

    assert codes == {302}


def test_a_sub_chats_page_names_what_stands_above_it_and_the_model_that_answers(ground):
    ground.assistant("stock", script=["Five."])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}, "5."])
    thread = ground.open("How many?")
    run_all()
    child = Thread.objects.get(parent=thread)

    answer = signed_in(ground.alice).get(url("thread", child))

    assert answer.context["ancestors"] == [thread] and not answer.context["can_share"]
    assert "scripted model answers" in answer.context["model_line"]


def test_a_profile_whose_key_can_not_be_read_is_named_on_the_page(ground):
    profile = ground.lead.profile
    profile.provider, profile.encrypted_key = "openai", "not a token"
    profile.save()
    thread = lifecycle.open_thread(ground.lead, owner=ground.alice, text="Hi")

    User.objects.filter(pk=ground.alice.pk).update(is_staff=True)

    page = signed_in(User.objects.get(pk=ground.alice.pk)).get(url("thread", thread))

    assert page.status_code == 200 and "can't be read" in page.context["model_line"]
