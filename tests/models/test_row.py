"""A row that was read is the object that Django makes of it."""

import pytest
from django.db import models

from assistants.models import Message, Thread, Turn, User
from assistants.turns.lifecycle import send_message
from tests.kit.turns import run_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def thread(ground):
    assistant = ground.assistant("a", script=["one"])
    made = Thread.objects.create(tenant=assistant.tenant, owner=ground.alice, assistant=assistant)
    send_message(made, author=ground.alice, text="Hello.")
    run_all()
    return made


@pytest.mark.parametrize("model", [Thread, Turn, Message, User])
def test_a_row_becomes_what_djangos_own_way_makes_of_it(thread, model, monkeypatch):
    ours = list(model.objects.order_by("pk"))
    monkeypatch.setattr(model, "from_db", classmethod(models.Model.from_db.__func__))
    theirs = list(model.objects.order_by("pk"))

    assert ours == theirs and ours
    for one, other in zip(ours, theirs, strict=True):
        state, expected = vars(one).pop("_state"), vars(other).pop("_state")
        assert vars(one) == vars(other)
        assert (state.adding, state.db, state.fields_cache) == (expected.adding, expected.db, expected.fields_cache)


def test_what_was_not_read_is_read_when_it_is_asked_for(thread, django_assert_num_queries):
    found = Thread.objects.only("title").get(pk=thread.pk)

    assert found.get_deferred_fields() >= {"chat_id", "owner_id"}
    with django_assert_num_queries(1):
        assert found.chat_id == thread.chat_id


def test_what_is_read_along_is_at_hand_and_can_be_changed(thread, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = Thread.objects.select_related("owner", "root").get(pk=thread.pk)
        assert (found.owner, found.root) == (thread.owner, None)

    found.owner_id = None
    assert found.owner is None
    found.title = "New"
    found.save()
    found.refresh_from_db()
    assert (found.title, found.owner) == ("New", None)
