"""The pages open, whether there is much to show or nothing."""

import pytest
from django.urls import reverse

from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import run_all


def test_a_conversation_opens_with_what_was_said(ground):
    thread = ground.open("Hi there")
    run_all()

    assert Page(signed_in(ground.alice), thread).texts() == ["Hi there", "Hello from the lead."]


@pytest.mark.parametrize("name", ["home", "inbox", "search"])
def test_every_page_opens_when_there_is_nothing(ground, name):
    assert signed_in(ground.alice).get(reverse(name)).status_code == 200
