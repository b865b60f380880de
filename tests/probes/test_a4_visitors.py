"""Report A4 and the probes' visitors: whoever is not signed in chats with a public assistant, and nothing else."""

import json

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client

from assistants.llm import scripted
from assistants.models import Assistant, Thread, ToolCall, User
from tests.kit.browsers import HTMX, PAGE, signed_in
from tests.kit.turns import last_turn, run_all
from tests.probes.sockets import following, opening


@pytest.fixture
def guide(ground):
    return ground.assistant("guide", public=True, tools=["current_time"], script=["Welcome."])


def begin(guide, text="Hi", **extra):
    browser = Client()
    opened = browser.post("/c/", {"assistant": guide.pk, "text": text}, **extra)
    assert opened.status_code == 302
    run_all()
    return browser, Thread.objects.order_by("-pk").first()


def test_a_visitor_chats_and_sees_their_own_conversation_only(ground, guide):
    one, first = begin(guide, "My secret plan")
    other, second = begin(guide, "Another plan")

    for browser, own, foreign in ((one, first, second), (other, second, first)):
        assert browser.get(f"/c/{own.chat_id}/").status_code == 200
        assert browser.get(f"/c/{foreign.chat_id}/state/").status_code == 401
        assert browser.post(f"/c/{foreign.chat_id}/send/", {"text": "x"}).status_code == 401
        assert foreign.chat_id not in browser.get("/").content.decode()


async def test_the_list_of_a_visitor_shows_when_an_answer_is_there(ground, guide):
    browser = Client()
    await sync_to_async(browser.post)("/c/", {"assistant": guide.pk, "text": "Hi"})
    thread = await Thread.objects.aget(owner=None)
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value

    async with opening(thread.chat_id, session=session, after=thread.last_event) as socket:
        await sync_to_async(run_all)()
        drawn = await listed(socket)

    assert thread.chat_id in drawn and 'class="spin' not in drawn


async def listed(socket):
    """The next drawing of the list of conversations."""
    while isinstance(came := await following(socket, seconds=5), str):
        if 'id="threads"' in (html := json.loads(came).get("html", "")):
            return html
    raise AssertionError("the list was not drawn")


def test_a_stranger_is_offered_public_assistants_only(ground, guide):
    page = Client().get("/").content.decode()

    assert "Guide" in page and "Lead" not in page
    for assistant in (ground.lead, ground.assistant("off", public=True, enabled=False)):
        assert Client().post("/c/", {"assistant": assistant.pk, "text": "Hi"}).status_code == 401


def test_a_visitor_sees_answers_and_nothing_of_the_works(ground, guide):
    scripted.register(guide.profile.model, [{"calls": [{"name": "current_time"}]}, "It is noon."])
    browser, thread = begin(guide)

    page = browser.get(f"/c/{thread.chat_id}/").content.decode()
    news = browser.get(f"/c/{thread.chat_id}/events/?after=0").content.decode()
    file = browser.get(f"/c/{thread.chat_id}/export/md/").content.decode()

    for shown in (page, news, file):
        assert "It is noon." in shown and "current_time" not in shown
    assert "Something was looked up" in page
    assert 'id="panel' not in page and 'id=\\"panel' not in news and "tokens" not in page + news
    assert browser.get(f"/c/{thread.chat_id}/export/json/").status_code == 401 and "/export/json/" not in page


def test_advice_for_operators_is_for_those_who_may_follow_it(ground, guide, monkeypatch):
    monkeypatch.setenv("TASKMONKEY_MODEL", "builtin")
    Assistant.objects.update(profile=None)
    User.objects.filter(pk=ground.alice.pk).update(is_staff=True)
    advice = "To connect a language model"

    pages = {who.username: signed_in(who).get("/").content.decode() for who in (ground.alice, ground.bob)}
    pages["visitor"] = Client().get(f"/?assistant={guide.pk}").content.decode()

    assert all("The built-in engine answers" in page for page in pages.values())
    assert [who for who, page in pages.items() if advice in page] == ["alice"]


def test_a_visitor_is_not_told_where_the_model_stands_nor_what_is_wrong_with_it(ground, guide):
    profile = guide.profile
    profile.provider, profile.model, profile.base_url = "openai", "secret-7b", "http://10.0.0.7:1234/v1"
    profile.save()
    outside, inside = Client().get("/").context["model_line"], signed_in(ground.bob).get(f"/?assistant={guide.pk}")

    assert outside == "A language model answers."
    assert inside.context["model_line"] == "secret-7b answers, from 10.0.0.7:1234."
    profile.encrypted_key = "not a token"
    profile.save()
    assert "key" not in Client().get("/").context["model_line"]


def test_an_assistant_that_is_no_longer_public_ends_the_conversation(ground, guide):
    browser, thread = begin(guide)
    Assistant.objects.filter(pk=guide.pk).update(public=False)

    assert browser.get(f"/c/{thread.chat_id}/state/").status_code == 401
    assert browser.post(f"/c/{thread.chat_id}/send/", {"text": "x"}).status_code == 401


def test_a_turn_of_a_visitor_ends_when_the_assistant_is_no_longer_public(ground, guide):
    Client().post("/c/", {"assistant": guide.pk, "text": "Hi"})
    Assistant.objects.filter(pk=guide.pk).update(public=False)

    run_all()

    assert last_turn(Thread.objects.get(owner=None)).reason == "no_right"


@pytest.mark.parametrize("name", ["invoke_assistant", "spawn_agent"])
def test_no_script_and_no_admin_gives_a_visitor_somebody_to_send(ground, guide, name):
    ground.assistant("stock", script=["42"])
    arguments = {
        "invoke_assistant": {"assistant": "stock", "task": "x"},
        "spawn_agent": {"task": "x", "prompt": "y", "tools": []},
    }
    guide.tools = [name]
    guide.save()
    scripted.register(guide.profile.model, [{"calls": [{"name": name, "arguments": arguments[name]}]}, "No."])
    begin(guide)

    assert ToolCall.objects.get().code == "TOOL_NOT_ALLOWED"
    assert not Thread.objects.exclude(parent=None).exists()


def test_a_visitor_writes_only_so_much_and_is_told_how_long_to_wait(ground, guide, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 3}
    browser, thread = begin(guide)
    message = thread.messages.get(role="user").pk
    send, edit = f"/c/{thread.chat_id}/send/", f"/message/{message}/edit/"
    for _ in range(2):
        assert browser.post(send, {"text": "more"}, headers=HTMX).status_code == 204
        run_all()

    refused = [browser.post(path, {"text": "more"}, headers=HTMX)
               for path in (send, edit, f"/message/{message}/fork/", f"/turn/{last_turn(thread).pk}/retry/")]  # fmt: skip
    opened = browser.post("/c/", {"assistant": guide.pk, "text": "again"}, headers=PAGE)

    assert {answer.status_code for answer in refused} == {429} == {opened.status_code}
    assert {answer.json()["code"] for answer in refused} == {"TOO_MANY_MESSAGES"}
    assert all(3500 < int(answer.headers["Retry-After"]) <= 3601 for answer in refused)
    assert "Wait 60 minutes" in opened.content.decode() and "again" in opened.content.decode()


def test_throwing_the_cookie_away_buys_an_address_only_so_much(ground, guide, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 1}
    browsers = [Client(headers={"X-Forwarded-For": f"10.0.0.{number}"}) for number in range(12)]

    statuses = [browser.post("/c/", {"assistant": guide.pk, "text": "Hi"}).status_code for browser in browsers]

    assert statuses == [302] * 10 + [429] * 2
    assert Client().post("/c/", {"assistant": guide.pk, "text": "Hi"}, REMOTE_ADDR="10.9.9.9").status_code == 302


def test_a_member_is_not_held_up_by_what_visitors_write(ground, guide, settings, client):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "VISITOR_MESSAGES_PER_HOUR": 0}
    client.force_login(ground.bob)

    assert client.post("/c/", {"assistant": ground.lead.pk, "text": "Hi"}).status_code == 302


def test_a_visitor_shares_with_nobody_and_hands_on_nothing(ground, guide):
    browser, thread = begin(guide)

    assert browser.post(f"/c/{thread.chat_id}/share/", {"username": "bob"}, headers=HTMX).status_code == 403
    assert not thread.shares.exists()


def test_a_visitors_conversation_belongs_to_nobody_who_signs_in(ground, guide):
    browser, thread = begin(guide)

    browser.post("/login/", {"username": "bob", "password": "secret"})

    assert browser.get(f"/c/{thread.chat_id}/state/", headers=HTMX).status_code == 404
    assert thread.chat_id not in browser.get("/").content.decode()
    for user in (ground.alice, ground.bob):
        member = Client()
        member.force_login(user)
        assert member.get(f"/c/{thread.chat_id}/state/", headers=HTMX).status_code == 404


def test_an_empty_key_is_nobodys_key(ground, guide):
    Thread.objects.create(tenant=ground.apes, owner=None, visitor_key="", assistant=guide, chat_id="chatorphan", title="Orphan")

    for browser in (Client(), begin(guide)[0]):
        assert browser.get("/c/chatorphan/state/").status_code == 401
        assert "Orphan" not in browser.get("/").content.decode() + browser.get("/search/?q=orphan").content.decode()
