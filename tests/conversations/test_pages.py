"""The pages open, hold what they should, and cost few queries."""

import pytest
from django.urls import reverse

from tests.kit.turns import run_all


def test_a_conversation_opens(ground, alice):
    thread = ground.open("Hi there")
    run_all()

    page = alice.get(reverse("thread", args=[thread.chat_id]))

    assert page.status_code == 200
    assert "Hello from the lead." in page.content.decode()


@pytest.mark.parametrize("name", ["home", "inbox", "search"])
def test_every_page_opens_when_there_is_nothing(alice, name):
    assert alice.get(reverse(name)).status_code == 200
