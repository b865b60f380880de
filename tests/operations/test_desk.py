"""Who works at once: a few, in the order in which they came, and nobody is kept out by one who stays."""

import threading
import time

import pytest

from assistants.desk import LATE, LULL, Desk


class Crowd:
    """Threads at a desk, each of which stays until it is told to go."""

    def __init__(self, places, stuck):
        self.desk, self.inside, self._goes, self._threads = Desk(places, stuck), [], {}, []

    def come(self, *names, **manner):
        for name in names:
            self._goes[name] = threading.Event()
            self._threads.append(threading.Thread(target=self._work, args=(name,), kwargs=manner))
            before = len(self.inside) + len(self.desk._queue)
            self._threads[-1].start()
            wait_for(lambda before=before: len(self.inside) + len(self.desk._queue) > before)

    def go(self, *names):
        for name in names:
            self._goes[name].set()

    def _work(self, name, nested=False, first=False, lends=False):
        with self.desk.place(first=first):
            self.inside.append(name)
            if nested:
                with self.desk.place():
                    pass
            if lends:
                with self.desk.lent():
                    self._goes[name].wait(30)
                self.inside.append(f"{name} again")
            self._goes[name].wait(30)

    def end(self):
        self.go(*self._goes)
        for thread in self._threads:
            thread.join(30)


@pytest.fixture
def crowd():
    made = []

    def gather(places, stuck=30.0):
        made.append(Crowd(places, stuck))
        return made[-1]

    yield gather
    for each in made:
        each.end()


def wait_for(done, seconds=10):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_so_many_work_at_once_and_the_others_follow_in_their_order(crowd):
    here = crowd(2)

    here.come(*"abcde")
    assert here.inside == ["a", "b"]
    for leaving, inside in (("b", "abc"), ("a", "abcd"), ("c", "abcde")):
        here.go(leaving)
        wait_for(lambda inside=inside: here.inside == list(inside))


def test_it_is_crowded_once_somebody_waits_for_long_and_until_a_while_after(crowd):
    here = crowd(1)

    here.come("a")
    time.sleep(2 * LATE)
    assert not here.desk.is_crowded
    here.come("b")
    wait_for(lambda: here.desk.is_crowded)
    here.go("a")
    wait_for(lambda: here.inside == ["a", "b"])

    assert here.desk.is_crowded
    time.sleep(LULL)
    assert not here.desk.is_crowded


def test_what_was_begun_goes_before_those_who_wait(crowd):
    here = crowd(1)

    here.come("a", "b")
    here.come("c", first=True)
    here.go("a")
    wait_for(lambda: here.inside == ["a", "c"])
    here.go("c")

    wait_for(lambda: here.inside == ["a", "c", "b"])


def test_a_place_is_lent_while_its_owner_waits_and_taken_back_before_those_who_came_meanwhile(crowd):
    here = crowd(1)

    here.come("a", lends=True)
    here.come("b")
    wait_for(lambda: here.inside == ["a", "b"])
    here.come("c")
    here.go("a")
    wait_for(lambda: len(here.desk._queue) == 2)
    here.go("b")
    wait_for(lambda: here.inside == ["a", "b", "a again", "c"])
    here.end()

    assert here.desk._free == 1


def test_one_who_stays_keeps_nobody_out_and_takes_no_second_place(crowd):
    here = crowd(1, stuck=0.1)

    here.come(*"abc")
    wait_for(lambda: here.inside == ["a", "b"])
    here.go("b")
    wait_for(lambda: here.inside == ["a", "b", "c"])
    time.sleep(0.1)
    here.go("a", "c")
    here.end()

    assert here.desk._free == 1 and here.desk._given_away == 0


def test_whoever_has_a_place_needs_no_other(crowd):
    here = crowd(1)

    here.come("a", nested=True)
    here.go("a")
    here.come("b")

    wait_for(lambda: here.inside == ["a", "b"])
    assert not here.desk.is_crowded
