"""The supervisor keeps a server alive, ends it in time, and never leaves it behind."""

import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

from tests.serve.conftest import Diary, alive, kill, until

Start = Callable[..., Diary]


def get(port: int, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return int(answer.status)


def test_a_killed_server_is_started_again_within_a_second(start: Start) -> None:
    diary = start("polite")
    port = diary.answered()
    first = diary.child()

    kill(first)
    killed = time.monotonic()
    second = diary.child(number=2)

    # What further crashes wait for begins at a second; a busy machine gets as long to start a process.
    assert time.monotonic() - killed < 4
    assert second != first
    assert get(port, "/") == 200


def test_a_caller_who_comes_while_the_server_is_down_is_answered_by_the_next_one(start: Start) -> None:
    diary = start("polite")
    port = diary.answered()

    kill(diary.child())
    status = get(port, "/")

    assert status == 200


def test_the_answer_is_announced_only_once_though_the_server_died_in_between(start: Start) -> None:
    diary = start("polite")
    port = diary.answered()

    first = diary.child()
    kill(first)
    diary.child(number=2)
    get(port, "/")
    time.sleep(0.3)

    assert diary.lines("answered") == [f"by {first}"]
    assert diary.lines("as") == ["first", "later"]


def test_what_is_done_once_is_done_by_the_next_server_when_one_was_killed_before_it_answered(start: Start) -> None:
    diary = start("doomed")
    diary.answered()

    assert diary.lines("as") == ["first", "first"]
    assert diary.lines("answered")[0].endswith(f"by {diary.child()}")


def test_each_further_crash_in_a_row_is_waited_for_longer(start: Start) -> None:
    diary = start("polite")
    moments = []

    for number in range(1, 5):
        child = diary.child(number=number)
        moments.append(time.monotonic())
        kill(child)
    diary.child(number=5)
    moments.append(time.monotonic())

    waits = [later - earlier for earlier, later in pairwise(moments)]
    assert all(waited > least for waited, least in zip(waits, (0.1, 0.2, 0.4, 0.8), strict=True))


def test_a_server_that_ended_cleanly_is_not_started_again(start: Start) -> None:
    diary = start("polite")
    port = diary.answered()

    with suppress(OSError):  # it leaves without a word
        get(port, "/leave")
    code = diary.process.wait(timeout=60)

    assert code == 0
    assert len(diary.lines("child")) == 1


def test_a_server_that_could_never_start_is_not_tried_for_ever(start: Start) -> None:
    diary = start("broken")

    _, told = diary.process.communicate(timeout=60)

    assert diary.process.returncode == 3
    assert "could not start" in told
    assert not diary.lines("answered")


def test_a_request_to_stop_is_passed_on_and_ends_both(start: Start) -> None:
    diary = start("polite")
    diary.answered()

    diary.process.terminate()
    code = diary.process.wait(timeout=60)

    assert code == 0
    assert not alive(diary.child())


def test_a_server_that_ignores_the_request_to_stop_is_killed_when_its_time_is_up(start: Start) -> None:
    diary = start("stubborn", "0.5")
    diary.answered()

    asked = time.monotonic()
    diary.process.terminate()
    code = diary.process.wait(timeout=60)

    assert code == 0
    assert 0.4 < time.monotonic() - asked < 10
    assert not alive(diary.child())


def test_a_server_dies_with_a_supervisor_that_was_killed(start: Start) -> None:
    diary = start("stubborn")
    diary.answered()
    child = diary.child()

    diary.process.kill()
    diary.process.wait(timeout=60)

    until(lambda: not alive(child))
