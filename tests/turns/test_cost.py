"""What a turn and a look cost in queries: all of it runs in one process, so what one does too much delays everybody."""

from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistants import consumers, looks
from assistants.models import Thread
from assistants.rendering import fragments
from assistants.rendering.updates import NEWS, PANEL, SIDEBAR
from assistants.turns import executors
from assistants.turns.lifecycle import send_message
from assistants.turns.loop import run_turn
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.subchats.fan_outs import fan_out, item, opened, step


def real(queries: CaptureQueriesContext) -> list[str]:
    """Without savepoints, which only a test's outer transaction makes of transactions."""
    return [each["sql"] for each in queries.captured_queries if "SAVEPOINT" not in each["sql"]]


def locks(number: int) -> int:
    """Statements that do nothing but lock, which SQLite does without."""
    return number if connection.features.has_select_for_update else 0


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
    assert turn.state == "done" and len(real(queries)) <= 39 + locks(3)


def test_handing_out_four_tasks_costs_few_queries(ground):
    for name in "abcd":
        ground.assistant(name, script=[f"from {name}"])
    opened(ground, fan_out(*map(item, "abcd")))

    with CaptureQueriesContext(connection) as queries:
        step()

    assert Thread.objects.exclude(parent=None).count() == 4 and len(real(queries)) <= 115 + locks(2)


def test_a_look_at_four_lanes_costs_few_queries(ground):
    four = four_at_work(ground)

    with CaptureQueriesContext(connection) as queries:
        fragments.draw_open_cards(fragments.view_of(ground.alice, four.chat_id))

    assert len(real(queries)) <= 16


def asked(ground, client, *, answers: int = 2) -> Thread:
    """A conversation of alice's with an answer or two, and alice signed in."""
    assistant = ground.assistant("a", script=[f"answer {number}" for number in range(answers)])
    client.force_login(ground.alice)
    thread = ground.open("Hello", assistant=assistant)
    run_all()
    return thread


def test_a_turn_of_one_answer_costs_few_queries(ground, client):
    thread = asked(ground, client)
    send_message(thread, author=ground.alice, text="And now?")
    commit_hooks()

    with CaptureQueriesContext(connection) as queries:
        run_all()

    assert last_turn(thread).state == "done" and len(real(queries)) <= 30 + locks(2)


def test_a_send_costs_few_queries(ground, client):
    thread = asked(ground, client)

    with CaptureQueriesContext(connection) as queries:
        answer = client.post(f"/c/{thread.chat_id}/send/", {"text": "And now?", "key": "k"}, headers={"HX-Request": "true"})

    assert answer.status_code == 204 and len(real(queries)) <= 19


def test_a_page_costs_few_queries_however_long_its_conversation(ground, client):
    thread = asked(ground, client, answers=6)
    for _ in range(5):
        send_message(thread, author=ground.alice, text="And now?")
        run_all()

    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"/c/{thread.chat_id}/")

    assert page.status_code == 200 and len(real(queries)) <= 24


def test_what_a_socket_draws_of_an_answer_costs_few_queries(ground, client):
    thread = asked(ground, client)
    seen = thread.last_event

    with CaptureQueriesContext(connection) as queries:
        consumers._draw(ground.alice, thread, seen, {NEWS, PANEL, SIDEBAR})

    assert len(real(queries)) <= 19


def test_very_many_idle_pages_ask_whether_they_may_still_be_seen_in_five_queries(ground, client):
    threads = [asked(ground, client), ground.open("One"), ground.open("Two")]
    session = SessionStore(client.session.session_key)

    with CaptureQueriesContext(connection) as queries:
        sights = looks.look_all([(ground.alice, session, thread.chat_id) for thread in threads] * 40)

    assert set(sights) == {looks.Sight(is_here=True, is_readable=True)}
    assert len(real(queries)) == 5
