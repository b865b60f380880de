"""Reports A2 to A4 and probes S04, S10: who may read, copy and share a conversation."""

import pytest

from assistants.models import Assistant, AuditEntry, Membership, Thread, ThreadShare
from tests.kit.browsers import HTMX, PAGE, signed_in, stranger
from tests.kit.turns import run_all
from tests.kit.words import said, url

READING = ["thread", "thread_events", "thread_state", "thread_older"]
WRITING = ["send_message", "rename_thread", "pin_thread", "archive_thread", "delete_thread", "share_thread", "unshare_thread"]


def with_sub_chat(ground):
    ground.assistant("stock", script=["42."])
    call = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count the canary"}}
    ground.script([{"calls": [call]}, "There are 42."])
    thread = ground.open("How many canaries?")
    run_all()
    return thread, Thread.objects.exclude(parent=None).get()


def share(ground, thread, name="bob"):
    return signed_in(ground.alice).post(url("share_thread", thread), {"username": name}, headers=HTMX)


def test_report_a3_a_conversation_is_its_owners_alone_until_it_is_shared(ground):
    thread, child = with_sub_chat(ground)
    others = [signed_in(each) for each in (ground.bob, ground.rita, ground.charlie)]

    seen = {browser.get(url(name, each)).status_code for browser in others for name in READING for each in (thread, child)}

    assert seen == {404} and not ThreadShare.objects.exists()


@pytest.mark.parametrize("name", WRITING)
def test_report_a3_nobody_else_changes_it(ground, name):
    thread, child = with_sub_chat(ground)

    answers = {
        signed_in(each).post(url(name, thread), {"text": "x", "username": "bob"}).status_code
        for each in (ground.bob, ground.charlie)
    }

    thread.refresh_from_db()
    assert answers == {404} and thread.title == "How many canaries?" and not ThreadShare.objects.exists()


def test_report_a2_who_may_only_read_neither_writes_nor_shares_on(ground):
    thread, _ = with_sub_chat(ground)
    share(ground, thread)
    bob = signed_in(ground.bob)

    read = bob.get(url("thread", thread)).status_code
    refused = {bob.post(url(name, thread), {"text": "x", "username": "rita", "title": "x"}).status_code for name in WRITING}

    assert read == 200 and refused == {403}
    assert list(ThreadShare.objects.values_list("user__username", flat=True)) == ["bob"]


def test_report_a2_a_shared_conversation_is_not_copied_by_who_may_not_use_its_assistant(ground):
    thread, _ = with_sub_chat(ground)
    share(ground, thread, "rita")
    share(ground, thread, "bob")
    last = said(thread, "There are 42.")

    rita = signed_in(ground.rita).post(url("fork_thread", last))
    bob = signed_in(ground.bob).post(url("fork_thread", last))

    assert rita.status_code == 403 and bob.status_code == 302
    assert list(ground.bob.threads.values_list("assistant__slug", flat=True)) == ["lead"]
    Assistant.objects.filter(slug="lead").update(enabled=False)
    assert signed_in(ground.bob).post(url("fork_thread", last)).status_code == 403


@pytest.mark.parametrize("name", ["charlie", "nobody", "", "ALICE"])
def test_report_a2_sharing_goes_to_members_of_the_team_only_in_the_same_words(ground, name):
    thread, _ = with_sub_chat(ground)

    answer = share(ground, thread, name)

    assert answer.status_code == 400 and answer.json()["code"] in ("NOT_A_MEMBER", "BAD_INPUT")
    assert not ThreadShare.objects.exists()
    if answer.json()["code"] == "NOT_A_MEMBER":
        assert answer.json()["message"] == "Nobody of this name belongs to your team."


def test_sharing_twice_is_one_share_and_both_directions_are_on_record(ground):
    thread, _ = with_sub_chat(ground)

    codes = [share(ground, thread).status_code for _ in range(2)]
    signed_in(ground.alice).post(url("unshare_thread", thread), {"username": "bob"})

    assert codes == [204, 204] and not ThreadShare.objects.exists()
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == ["share", "unshare"]


def test_s04_access_to_a_sub_chat_follows_its_parent_at_once(ground):
    thread, child = with_sub_chat(ground)
    bob = signed_in(ground.bob)
    share(ground, thread)
    assert [bob.get(url(name, child)).status_code for name in ("thread", "thread_state")] == [200, 200]

    signed_in(ground.alice).post(url("unshare_thread", thread), {"username": "bob"})

    assert [bob.get(url(name, each)).status_code for name in READING for each in (thread, child)] == [404] * 8


def test_s04_a_sub_chat_is_not_shared_or_moved_by_itself(ground):
    thread, child = with_sub_chat(ground)
    other = ground.open("Other")

    answer = share(ground, child)
    signed_in(ground.alice).post(
        url("rename_thread", child), {"title": "Mine", "parent": other.chat_id, "parent_chat_id": other.chat_id}
    )

    child.refresh_from_db()
    assert answer.json()["code"] == "SUBCHAT_FOLLOWS" and child.parent == thread and child.title == "Mine"


def test_a_member_who_leaves_the_team_loses_what_was_shared(ground):
    thread, _ = with_sub_chat(ground)
    share(ground, thread)
    Membership.objects.filter(user=ground.bob).delete()

    assert signed_in(ground.bob).get(url("thread", thread)).status_code == 404


def test_report_a4_a_link_opened_by_nobody_leads_to_signing_in_and_a_guessed_one_tells_nothing(ground):
    thread, child = with_sub_chat(ground)
    share(ground, thread)
    guessed = [thread.chat_id, child.chat_id, "chat0000000000000000", f"sub_{thread.chat_id}_00000000"]

    pages = [stranger(**PAGE).get(f"/c/{chat_id}/") for chat_id in guessed]
    programs = [stranger().get(f"/c/{chat_id}/state/") for chat_id in guessed]

    assert [page["Location"] for page in pages] == [f"/login/?next=/c/{chat_id}/" for chat_id in guessed]
    assert {answer.status_code for answer in programs} == {401} and len({answer.content for answer in programs}) == 1


def test_report_a4_a_member_without_the_right_can_not_tell_a_conversation_from_none(ground):
    thread, child = with_sub_chat(ground)
    bob = signed_in(ground.bob, **HTMX)

    answers = {bob.get(f"/c/{chat_id}/state/").content for chat_id in (thread.chat_id, child.chat_id, "chat00")}

    assert len(answers) == 1


FOUND = ["canary", "canaries", "can", "canary*", '"canary', "CANARY?"]
NOT_FOUND = ["*", '"', "%", "_", "' OR 1=1 --", "NEAR(canary)", "canary NOT 42", "text:canary", ""]


@pytest.mark.parametrize("query", [*FOUND, *NOT_FOUND])
def test_s10_s39a_a_search_finds_nothing_of_others_and_takes_every_query_as_plain_words(ground, query):
    with_sub_chat(ground)

    own, others = [signed_in(each, **HTMX).get("/search/", {"q": query}) for each in (ground.alice, ground.bob)]

    assert own.status_code == others.status_code == 200
    assert "42" not in others.content.decode() and "/c/" not in others.content.decode()
    assert ("/c/" in own.content.decode()) == (query in FOUND)


def test_s10_lists_and_inbox_show_nothing_of_others(ground):
    with_sub_chat(ground)
    bob = signed_in(ground.bob)

    pages = [bob.get(path).content.decode() for path in ("/", "/inbox/")]

    assert all("canar" not in page for page in pages)


def test_s14_no_get_changes_anything(ground):
    from django.apps import apps

    thread, child = with_sub_chat(ground)
    browser = signed_in(ground.alice)

    def everything():
        models = [model for model in apps.get_models() if model._meta.app_label in ("assistants", "subchats")]
        return {model: sorted(map(repr, model.objects.values_list())) for model in models}

    before = everything()
    for path in ["/", "/inbox/", "/search/?q=can"] + [url(name, each) for name in READING for each in (thread, child)]:
        browser.get(path, {"after": 1, "before": 5, "at": 1})

    assert everything() == before
