"""How requests are answered: static files on the server's loop, everything else in one thread from beginning to end."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core import signals
from django.core.exceptions import MiddlewareNotUsed, RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import HttpResponseBase
from django.urls import set_script_prefix
from servestatic.middleware import ServeStaticMiddleware

from assistants.desk import desk

# Requests that are worked on at once; the others wait in the order in which they came.
PLACES = 64

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class StaticFiles(ServeStaticMiddleware):
    """Serves files by coroutines only, so it stands aside in a chain that has none."""

    sync_capable = True

    def __init__(self, get_response: Any) -> None:
        if not iscoroutinefunction(get_response):
            raise MiddlewareNotUsed
        super().__init__(get_response)


class PageHandler(ASGIHandler):
    """Django's handler, but all middleware and the view run in one thread without a break.

    Its own way hands a request from the loop to a thread and back for each middleware, some twenty times. Every time it waits
    for the interpreter lock, behind all that is at work.
    """

    def __init__(self) -> None:
        self.load_middleware(is_async=False)
        self._pool = ThreadPoolExecutor(PLACES, thread_name_prefix="request")

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        response = await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, scope, body)
        await self.send_response(response, send)
        if response.streaming:
            await sync_to_async(response.close)()

    def _answer(self, scope: dict[str, Any], body: IO[bytes]) -> HttpResponseBase:
        """The response; what belonged to the request is let go of, unless there is more of it to come."""
        with body, desk.place():
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(type(self), scope=scope)
            request, refusal = self.create_request(scope, body)
            response = refusal or self.get_response(request)
            response._handler_class = type(self)
            if not response.streaming:
                response.close()
            return response


class SiteHandler:
    """Gives each request to the handler that suits it."""

    def __init__(self) -> None:
        self._files, self._pages = ASGIHandler(), PageHandler()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        is_file = scope["path"].removeprefix(scope.get("root_path", "")).startswith(settings.STATIC_URL)
        await (self._files if is_file else self._pages)(scope, receive, send)
