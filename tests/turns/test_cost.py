"""What a turn and a look cost in queries: all of it runs in one process, so what one does too much delays everybody."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistants.models import Thread
from assistants.rendering import fragments
from assistants.turns import executors
from assistants.turns.loop import run_turn
from tests.kit.turns import commit_hooks, last_turn
from tests.subchats.fan_outs import fan_out, item, opened, step


def real(queries: CaptureQueriesContext) -> list[str]:
    """Without savepoints, which only a test's outer transaction makes of transactions."""
    return [each["sql"] for each in queries.captured_queries if "SAVEPOINT" not in each["sql"]]


def four_at_work(ground) -> Thread:
    for name in "abcd":
        ground.assistant(name, script=[f"from {name}"])
    thread = opened(ground, fan_out(*map(item, "abcd")))
    step()
    return thread


def test_a_childs_turn_without_tools_costs_few_queries(ground):
    thread = four_at_work(ground)
    commit_hooks()
    turn = last_turn(Thread.objects.filter(parent=thread).first())
    executors.rung.remove(turn.pk)

    with CaptureQueriesContext(connection) as queries:
        run_turn(turn.pk)
        commit_hooks()

    turn.refresh_from_db()
    assert turn.state == "done" and len(real(queries)) <= 62


def test_a_look_at_four_lanes_costs_few_queries(ground):
    four = four_at_work(ground)

    with CaptureQueriesContext(connection) as queries:
        fragments.draw_open_cards(ground.alice, four)

    assert len(real(queries)) <= 16
