"""The card of a fan-out: a heading that says how far they are, and the same cards as ever, side by side."""

from django.utils import translation

from assistants import clock
from assistants.rendering import fragments
from assistants.turns import lifecycle
from tests.kit.browsers import signed_in
from tests.kit.page import Page, read
from tests.kit.turns import last_turn, run_all
from tests.subchats.fan_outs import call_of, children, fan_out, item, opened, run_turn_of, shared_out, step


def log_of(thread, person):
    return str(fragments.draw_log(fragments.viewpoint(thread, person)))


def three_at_work(ground):
    for name in "abc":
        ground.assistant(name, script=[f"from {name}"])
    thread = opened(ground, fan_out(item("a", label="First part"), item("b"), item("c")))
    step()
    return thread


def test_j11_the_heading_counts_those_who_are_back(ground):
    thread = three_at_work(ground)
    run_turn_of(children(thread)[1])
    run_turn_of(children(thread)[2])
    working = log_of(thread, ground.alice)

    run_all()
    over = log_of(thread, ground.alice)

    assert "Three assistants at work" in working and "2 of 3 reported" in working and "data-since" in working
    assert "Three assistants have worked on this" in over and "3 of 3 reported" in over


def test_j11_a_lane_that_was_stopped_has_not_reported(ground):
    thread = three_at_work(ground)
    run_turn_of(children(thread)[1])
    lifecycle.stop_turn(last_turn(children(thread)[0]).pk, by="Alice")

    working = log_of(thread, ground.alice)
    run_all()
    over = log_of(thread, ground.alice)

    assert "1 of 3 reported · 1 ended early" in working and "2 of 3 reported · 1 ended early" in over


def test_j11_every_lane_is_an_element_of_its_own_with_its_state(ground):
    thread = three_at_work(ground)
    run_turn_of(children(thread)[2])

    card = read(log_of(thread, ground.alice)).find(id=f"c{call_of(thread).pk.hex}")

    lanes = [card.find(id=f"c{call_of(thread).pk.hex}-{place}") for place in range(3)]
    assert [lane.attributes["data-state"] for lane in lanes] == ["running", "running", "reported"]
    assert "First part" in lanes[0].text() and "from c" in lanes[2].text()
    assert all(child.chat_id in str(lane.outline()) for child, lane in zip(children(thread), lanes, strict=True))


def test_j11_a_change_in_one_lane_is_sent_alone(ground, monkeypatch):
    thread = three_at_work(ground)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    before = fragments.draw_open_cards(fragments.view_of(ground.alice, thread.chat_id))

    lifecycle.stop_turn(last_turn(children(thread)[0]).pk, by="Alice")
    after = fragments.draw_open_cards(fragments.view_of(ground.alice, thread.chat_id))

    pieces = [key for key in after if key.startswith(str(call_of(thread).pk))]
    changed = [after[key] for key in pieces if before[key] != after[key]]
    assert len(pieces) == 4 and len(changed) == 2
    assert 'class="together"' in changed[0] and 'data-state="stopped"' in changed[1]


def test_report_s22_a_page_that_was_open_all_the_time_shows_what_a_reload_shows(ground):
    thread = three_at_work(ground)
    page = Page(signed_in(ground.alice), thread)
    for child in reversed(children(thread)):
        run_turn_of(child)
        page.poll()
        assert page.parts() == Page(signed_in(ground.alice), thread).parts()

    run_all()
    page.poll()

    assert page.parts() == Page(signed_in(ground.alice), thread).parts()


def test_report_d2_a_lane_whose_sub_chat_is_continued_shows_its_new_work(ground):
    ground.assistant("a", script=["from a", "and more"])
    thread = shared_out(ground, item("a", "1"), item("a", "2"))
    page = Page(signed_in(ground.alice), thread)

    lifecycle.send_message(children(thread)[1], author=ground.alice, text="More?")
    run_all()
    page.poll()

    assert "and more" in page.at(f"c{call_of(thread).pk.hex}-1").text()
    assert "from a" in page.at(f"c{call_of(thread).pk.hex}-0").text()


def test_j25_a_dropped_owner_is_told_of_on_the_lane(ground):
    back = {"calls": [{"name": "hand_back", "arguments": {"whatIsNeeded": "Which carrier?", "owningAgent": "nobody-here"}}]}
    ground.assistant("a", script=["from a"])
    ground.assistant("desk", tools=["hand_back"], script=[back])

    thread = shared_out(ground, item("a"), item("desk"))

    lane = read(log_of(thread, ground.alice)).find(id=f"c{call_of(thread).pk.hex}-1")
    assert lane.attributes["data-state"] == "handed_back"
    assert "Which carrier?" in lane.text() and "“nobody-here” does not exist and was dropped" in lane.text()


def test_a_refused_fan_out_names_everybody_that_was_asked(ground):
    ground.assistant("a", script=["from a"])

    thread = shared_out(ground, item("a", "Count"), item("nobody", "Weigh"))

    html = log_of(thread, ground.alice)
    assert 'data-state="refused"' in html and "A, nobody" in html and "Count · Weigh" in html
    assert "lanes" not in html


def test_arguments_that_are_no_tasks_at_all_still_make_a_card(ground):
    thread = opened(ground, {"calls": [{"name": "spawn_agents", "arguments": {"tasks": "all of them"}}]})
    run_all()

    assert 'data-state="refused"' in log_of(thread, ground.alice)


def test_the_heading_speaks_german_as_well(ground):
    thread = three_at_work(ground)

    with translation.override("de"):
        html = log_of(thread, ground.alice)

    assert "Drei Assistenten arbeiten" in html and "0 von 3 haben berichtet" in html
