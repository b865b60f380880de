"""The panel shows the same sums on every page of a tree, as they stand in the record (D22)."""

from decimal import Decimal

from django.test import Client

from assistants import access
from assistants.conversations.present import present_of
from assistants.models import LLMProfile
from assistants.rendering import fragments
from assistants.templatetags.look import short
from assistants.templatetags.spending import turn_budget
from assistants.turns import allowance
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import last_turn, run_all

from .ledger import pay

ASKS = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}


def family(ground):
    """A conversation with one sub-chat; both are done."""
    LLMProfile.objects.update(input_price=1, output_price=2)
    ground.assistant("stock", script=["There are 42."])
    ground.script([ASKS, "42."])
    thread = ground.open()
    LLMProfile.objects.update(input_price=1, output_price=2)
    run_all()
    return thread, thread.children.get()


def test_d22_every_page_of_a_tree_shows_the_same_total_the_sum_of_its_parts(ground) -> None:
    thread, child = family(ground)

    top, below = turn_budget(present_of(thread)), turn_budget(present_of(child))

    assert top["total"] == below["total"] == top["subtree"]
    assert top["own"].tokens + below["own"].tokens == top["total"].tokens
    assert top["own"].cost + below["own"].cost == top["total"].cost > Decimal(0)
    assert below["own"] == below["subtree"]
    assert top["cap"] == below["cap"] == 120_000


def test_the_panel_says_how_much_of_the_budget_is_used_live_and_after_a_reload(ground) -> None:
    thread, _ = family(ground)
    client = Client()
    client.force_login(ground.alice)
    words = f"{short(turn_budget(present_of(thread))['total'].tokens)} of 120k tokens"

    page = client.get(f"/c/{thread.chat_id}/").content.decode()
    live = fragments.draw_panel(fragments.viewpoint(thread, ground.alice))

    assert words in page and words in live
    assert "With all below" in live
    assert access.may(ground.alice, "read", thread)


def test_a_used_up_budget_is_told_in_words_beside_the_bar(ground) -> None:
    thread, _ = family(ground)
    pay(last_turn(thread), 119_000)

    live = fragments.draw_panel(fragments.viewpoint(thread, ground.alice))

    assert 'rect class="clay"' in live
    assert "Used up but for what is kept for the answer." in live


def test_a_conversation_that_was_not_begun_has_no_budget_to_show(ground) -> None:
    thread, _ = family(ground)
    thread.turns.all().delete()

    assert turn_budget(present_of(thread)) is None


def test_what_was_seen_live_of_a_used_up_budget_is_what_a_reload_shows(ground) -> None:
    ground.lead.turn_tokens = 4000
    ground.lead.save()
    ground.script(["Here is the answer."])
    thread = ground.open()
    browser = signed_in(ground.alice)
    live = Page(browser, thread)

    pay(last_turn(thread), 4000)
    run_all()
    live.poll()
    paused = Page(browser, thread)

    assert "Go on with 60k more tokens" in live.at("state").text()
    assert live.at("state").outline() == paused.at("state").outline()
    assert all("4k of 4k tokens" in page.at("panel").text() for page in (live, paused))

    allowance.top_up(last_turn(thread).pk)
    run_all()
    live.poll()

    assert "Go on with" not in live.at("state").text()
    assert live.parts() == Page(browser, thread).parts()
