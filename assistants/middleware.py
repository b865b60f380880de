"""Turns refusals into responses, on every page alike."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from assistants.errors import Busy, CodedError, NotAllowed
from assistants.forms import refused

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class CodedErrors:
    """Answers a CodedError with its sentence: 403 for NotAllowed, 503 for Busy and a locked store, else 400."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, OperationalError):
            busy = Busy(code="BUSY", message="The store is busy. Your text was kept.", fix="Try again in a moment.")
            return refused(request, busy, status=503)
        if not isinstance(error, CodedError):
            return None
        status = 403 if isinstance(error, NotAllowed) else 503 if isinstance(error, Busy) else 400
        return refused(request, error, status=status)
