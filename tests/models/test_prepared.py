"""A query that was put together once gives what the plain one gives, for any values."""

from decimal import Decimal

import pytest
from django.db import DatabaseError, connection
from django.db.models import Count, F, Q
from django.test.utils import CaptureQueriesContext

from assistants import clock
from assistants.models import Message, Thread, Turn, TurnEvent
from assistants.models.prepared import Prepared, insert, put
from assistants.turns.lifecycle import send_message
from tests.kit.turns import run_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def threads(ground):
    assistant = ground.assistant("a", script=["one", "two", "three"])
    made = [Thread.objects.create(tenant=assistant.tenant, owner=ground.alice, assistant=assistant) for _ in range(3)]
    for thread in made:
        send_message(thread, author=ground.alice, text="Hello.")
        run_all()
    return made


def alike(found, expected):
    assert found == expected and found
    for one, other in zip(found, expected, strict=True):
        assert {name: value for name, value in vars(one).items() if name != "_state"} == {
            name: value for name, value in vars(other).items() if name != "_state"
        }
        assert one._state.fields_cache == other._state.fields_cache and one._state.db == other._state.db


@pytest.mark.parametrize(
    "build",
    [
        lambda thread: Turn.objects.filter(thread=thread).select_related("thread__assistant", "root", "user_message__author"),
        lambda thread: Thread.objects.filter(pk=thread).annotate(count=Count("turns")),
        lambda thread: TurnEvent.objects.filter(thread_id=thread, number__gt=1).order_by("-number")[:2],
        lambda thread: Message.objects.filter(thread=thread, thread__leaf=F("pk")).exclude(state="queued"),
    ],
)
def test_rows_become_the_same_objects_for_any_value(threads, build):
    prepared = Prepared(build)

    for thread in threads:
        alike(prepared.rows(thread.pk), list(build(thread.pk)))


def test_values_come_in_the_order_that_was_asked_for(threads):
    def build(thread, role):
        found = Message.objects.filter(thread=thread, role=role).order_by("created")
        return found.values_list("thread__title", "pk", "sequence", "created", "parts")

    assert Prepared(build).rows(threads[0].pk, "user") == list(build(threads[0].pk, "user"))


def test_one_column_comes_flat(threads):
    ids = Prepared(lambda owner: Thread.objects.filter(owner=owner).order_by("pk").values_list("pk", flat=True))

    assert ids.rows(threads[0].owner_id) == [each.pk for each in threads]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_list_of_any_length_is_looked_for(threads, count):
    ids = [each.pk for each in threads][:count]
    prepared = Prepared(lambda some: Thread.objects.filter(pk__in=some).order_by("pk"))

    assert prepared.rows(ids) == threads[:count] and prepared.rows(set(ids)) == threads[:count]


def test_uuids_and_times_are_found_as_they_are_stored(threads):
    message = Message.objects.first()
    prepared = Prepared(lambda pk, since: Message.objects.filter(pk=pk, created__gte=since))

    assert prepared.first(message.pk, message.created) == message
    assert not prepared.exists(threads[0].leaf_id or message.pk, message.created.replace(year=2999))


def test_it_is_one_query_and_put_together_once(threads):
    built = []
    prepared = Prepared(lambda pk: built.append(pk) or Thread.objects.filter(pk=pk))

    with CaptureQueriesContext(connection) as queries:
        assert [prepared.first(each.pk) for each in threads] == threads

    assert len(queries) == 3 and len(built) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda thread: TurnEvent(thread_id=thread.pk, number=99, kind="queue", payload={"text": "a “b” %s", "none": None}),
        lambda thread: Message(thread=thread, sequence=99, role="user", parts=[{"type": "text", "text": "ä%"}]),
        lambda thread: Turn(thread=thread, user_message=thread.leaf, state="queued"),
        lambda thread: Thread(tenant=thread.tenant, parent=thread, root_id=thread.pk, title="new"),
    ],
)
def test_a_new_row_is_stored_as_django_would(threads, make):
    plain, ours = make(threads[0]), make(threads[1])
    plain.save(force_insert=True)

    assert insert(ours) is ours and not ours._state.adding and ours._state.db == plain._state.db

    stored, expected = type(ours).objects.get(pk=ours.pk), type(plain).objects.get(pk=plain.pk)
    differ = {
        field.name for field in ours._meta.concrete_fields if getattr(stored, field.attname) != getattr(expected, field.attname)
    }
    assert differ <= {"id", "thread", "user_message", "parent", "root", "chat_id", "created", "updated", "leaf", "changed"}
    assert all(getattr(stored, field.attname) == getattr(ours, field.attname) for field in ours._meta.concrete_fields)


def turns_of(thread):
    return Turn.objects.filter(thread=thread)


def messages_of(thread):
    return Message.objects.filter(thread=thread)


@pytest.mark.parametrize(
    ("build", "changes"),
    [
        (turns_of, {"state": Turn.State.DONE, "round": 7, "note": "a “b” %s", "cost": Decimal("0.000123")}),
        (turns_of, {"wake_at": clock.now(), "user_message": None, "token_cap": None, "unattended": [["a", "b"]]}),
        (turns_of, {"unattended": None, "wake_at": None}),
        (messages_of, {"parts": [{"type": "text", "text": "ä%s"}], "state": "failed", "parent": None}),
        (lambda thread: Thread.objects.filter(Q(title="") | Q(pk=thread), pk=thread), {"read_private": True, "title": "ü"}),
    ],
)
def test_rows_are_changed_as_django_would(threads, build, changes):
    one, other, third = (build(thread.pk) for thread in threads)
    untouched = list(third.values())

    assert Prepared(build).update(threads[1].pk, **changes) == one.update(**changes) > 0

    assert list(other.values(*changes)) == list(one.values(*changes)) and list(third.values()) == untouched


@pytest.mark.parametrize("count", [0, 1, 3])
def test_many_rows_are_changed_in_one_statement_that_is_put_together_once(threads, count):
    built = []
    prepared = Prepared(lambda some: built.append(some) or Thread.objects.filter(pk__in=some))

    for title in "ab":
        with CaptureQueriesContext(connection) as queries:
            assert prepared.update([each.pk for each in threads][:count], title=title) == count
        assert len(queries) == len(built) == min(count, 1)

    assert Thread.objects.filter(title="b").count() == count


def test_rows_are_found_by_all_kinds_of_keys_and_given_others(threads):
    message = threads[0].messages.get(role="user")
    prepared = Prepared(lambda pk, since: Message.objects.filter(pk=pk, created__gte=since))

    assert prepared.update(message.pk, message.created, turn=None, parent=message.pk, author=message.author_id) == 1
    assert prepared.update(message.pk, message.created.replace(year=2999), parent=None) == 0

    message.refresh_from_db()
    assert (message.parent_id, message.turn_id, message.author_id) == (message.pk, None, threads[0].owner_id)


def test_of_a_row_that_is_known_the_named_fields_are_stored(threads):
    turn, updated = turns_of(threads[0]).get(), threads[0].updated
    turn.note, turn.round = "new", 9
    put(turn, "note")
    threads[0].title = "new"
    put(threads[0], "title", "updated")

    assert turns_of(threads[0]).values_list("note", "round").get() == ("new", 0)
    threads[0].refresh_from_db()
    assert threads[0].title == "new" and threads[0].updated > updated


def test_of_a_row_that_is_known_all_fields_are_stored_where_none_is_named(threads):
    turn = turns_of(threads[0]).get()
    expected = turns_of(threads[0]).values().get()
    turn.note, turn.unattended, turn.cost = expected["note"], expected["unattended"], expected["cost"] = (
        "n",
        [["a"]],
        Decimal(2),
    )
    put(turn)

    assert turns_of(threads[0]).values().get() == expected


def test_a_row_that_is_gone_is_not_stored_again(threads):
    turn = turns_of(threads[0]).get()
    Turn.objects.filter(pk=turn.pk).delete()

    for changed in ([], ["note"]):
        with pytest.raises(DatabaseError):
            put(turn, *changed)
    assert not turns_of(threads[0]).exists()
