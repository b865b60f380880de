"""One loop in one thread carries every stream of the process."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from assistants.llm.loop import stream_loop, submit
from tests.kit.stub_llm import StubLLM, say
from tests.llm.asking import ask


async def where() -> tuple[str, asyncio.AbstractEventLoop]:
    return threading.current_thread().name, asyncio.get_running_loop()


def test_every_thread_gets_the_same_loop() -> None:
    with ThreadPoolExecutor(8) as pool:
        places = [future.result(60) for future in pool.map(lambda _: submit(where()), range(50))]

    assert set(places) == {("model-streams", stream_loop())}


def test_many_streams_run_side_by_side(llm: StubLLM) -> None:
    llm.script_forever([say("x", n=5, delay=0.02)])

    with ThreadPoolExecutor(20) as pool:
        texts = list(pool.map(lambda _: ask(llm.profile()).text, range(20)))

    assert texts == ["xxxxx"] * 20
    assert max(request.at for request in llm.requests) < min(request.ended_at or 0 for request in llm.requests)


def test_the_loops_thread_does_not_keep_the_process_alive() -> None:
    submit(where()).result(60)

    (thread,) = [thread for thread in threading.enumerate() if thread.name == "model-streams"]
    assert thread.daemon


def test_a_forked_process_starts_a_loop_of_its_own() -> None:
    submit(where()).result(60)
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:
        name, _ = submit(where()).result(60)
        os.write(writing, name.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)

    assert os.read(reading, 100) == b"model-streams"
    os.close(reading)
