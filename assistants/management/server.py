"""The server process itself: a listening socket, the turn engine, and Daphne (or uvicorn) in front of the application."""

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import time
from typing import Any, cast

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from assistants import precedence, tracing
from assistants.consumers import send_home
from assistants.llm import loop as stream_loop
from assistants.llm.detect import detect_profile
from assistants.llm.models import warm_up
from assistants.management.garbage import LOOK_SECONDS, GarbageCollection
from assistants.models import LLMProfile
from assistants.rendering.code import load_languages
from assistants.turns import executors
from assistants.turns.engine import repeat, start_engine
from assistants.turns.lookout import Lookout

SERVERS = ("daphne", "uvicorn")
# Until somebody who waits for the first page has it; what is loaded then takes as much CPU as half of a start.
SETTLE_SECONDS = 2.0
# A thread that writes lets go of the interpreter at each of its statements, with others waiting for it to be through. From one
# that draws a page it would get the interpreter back after 5 ms each time.
SWITCH_SECONDS = 0.001


def serve(listener: socket.socket, *, server: str = "daphne") -> None:
    """Answers on `listener` until SIGTERM or SIGINT, then ends the process at once with code 0; never returns.

    Starts the turn engine first.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    # Before the engine takes up turns that an earlier server left.
    loop = _loop_of(server)
    stream_loop.adopt(loop)
    precedence.watch(loop)
    _start_engine()
    application = import_string(settings.ASGI_APPLICATION)
    {"daphne": _run_daphne, "uvicorn": _run_uvicorn}[server](application, listener)
    # The loop has stopped, so what still streams is ended, and its turns are given back.
    executors.drain(0, rest=time.sleep)
    # Nothing that matters happens at exit, and the interpreter's own way out joins threads that may never end.
    tracing.stop()
    logging.shutdown()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)


def _loop_of(server: str) -> asyncio.AbstractEventLoop:
    if server == "uvicorn":
        return asyncio.new_event_loop()
    from daphne.server import twisted_loop

    return cast(asyncio.AbstractEventLoop, twisted_loop)


def _start_engine() -> None:
    settling = threading.Timer(SETTLE_SECONDS, _settle_down)
    settling.daemon = True
    settling.start()
    if settings.REDIS_URL:
        from assistants.turns.relay import start_relay

        start_relay(settings.REDIS_URL, prefix=settings.REDIS_PREFIX)
        repeat(settings.TASKMONKEY["LOOK_SECONDS"], Lookout().look, "lookout")
    if settings.TASKMONKEY["EXECUTOR"] != "celery":
        start_engine()


def prepare_models() -> None:
    """Imports the providers in use: the first turn would do that inside the event loop, and freeze every socket meanwhile."""
    warm_up([*LLMProfile.objects.values_list("provider", flat=True).distinct(), detect_profile().provider])
    connections.close_all()


def _settle_down() -> None:
    """Loads what the first turn, and the first block of code in each language, would otherwise hold up a socket for."""
    prepare_models()
    load_languages()
    garbage = GarbageCollection()
    garbage.settle()
    repeat(LOOK_SECONDS, garbage.look, "garbage")


def _run_daphne(application: Any, listener: socket.socket) -> None:
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    from assistants.management.patient import PatientServer

    logging.getLogger("daphne.server").setLevel(logging.WARNING)
    # Daphne's library holds what goes out to the message limit too, but counts single frames only as they come in.
    frame, message = settings.TASKMONKEY["SOCKET_FRAME_BYTES"], settings.TASKMONKEY["SOCKET_MESSAGE_BYTES"]
    daphne = PatientServer(
        application=application,
        endpoints=[f"fd:fileno={listener.fileno()}"],
        websocket_max_message_size=message,
        websocket_max_frame_size=frame,
        server_name="",
    )
    # Its declaration names the second parameter like the third.
    on: Any = reactor
    on.addSystemEventTrigger("before", "shutdown", lambda: Deferred.fromFuture(asyncio.ensure_future(send_home())))
    daphne.run()
    if daphne.abort_start:
        os._exit(1)


def _run_uvicorn(application: Any, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        application,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=settings.TASKMONKEY["SOCKET_FRAME_BYTES"],
        log_config=None,
        access_log=False,
        server_header=False,
    )
    stream_loop.stream_loop().run_until_complete(uvicorn.Server(config).serve(sockets=[listener]))
