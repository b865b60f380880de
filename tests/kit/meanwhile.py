"""Lets something happen in the middle of a streaming reply, at a moment that the test chooses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from assistants.turns import partial, think
from tests.kit.turns import commit_hooks, run_all


@contextmanager
def in_mid_stream(action: Callable[[], object], *, chars: int = 1) -> Iterator[list[object]]:
    """Runs the action once, on the runner's thread, as soon as a reply has grown to so many characters.

    The runner looks every hundredth of a second instead of every second. Gives the list that the action's result,
    or what it raised, is put into; the test should look that it is not empty.
    """
    seconds, save = think.SAVE_SECONDS, think._save_partial
    done: list[object] = []

    def act_then_save(growth: partial.Growth) -> None:
        if not done and len(growth.reply.text) >= chars:
            done.append("running")
            try:
                done[0] = action()
            except Exception as error:
                done[0] = error
            commit_hooks()
        save(growth)

    think.SAVE_SECONDS, think._save_partial = 0.01, act_then_save
    try:
        yield done
    finally:
        think.SAVE_SECONDS, think._save_partial = seconds, save


def run_and(action: Callable[[], object], *, chars: int = 1) -> object:
    """Runs every turn, with the action in the middle of the first reply that grows long enough; gives its result."""
    with in_mid_stream(action, chars=chars) as done:
        run_all()
    assert done, "no reply grew long enough"
    return done[0]
