"""What holds for every page alike: refusals become responses, and nothing private is kept by a cache."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.contrib.auth.views import redirect_to_login
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from assistants.errors import Busy, CodedError, NotAllowed, Throttled
from assistants.forms import is_plain_form, refused, wants_json

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
STATUS = {NotAllowed: 403, Throttled: 429, Busy: 503}


@sync_and_async_middleware
def private_pages(get_response: GetResponse) -> GetResponse:
    """Forbids browsers and proxies to keep a page: after signing out, the back button shows nothing (S12)."""

    def mark(response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    if not iscoroutinefunction(get_response):
        return lambda request: mark(get_response(request))  # type: ignore[arg-type]

    async def answer(request: HttpRequest) -> HttpResponseBase:
        return mark(await get_response(request))  # type: ignore[misc]

    return answer


class CodedErrors:
    """Answers a CodedError with its sentence: 403 for NotAllowed, 429 for Throttled, 503 for Busy and a locked store,
    else 400. Whoever is not signed in is led to the sign-in page instead of a 404 (A4)."""

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
        if isinstance(error, Http404):
            return _invisible(request)
        if isinstance(error, CodedError):
            return refused(request, error, status=STATUS.get(type(error), 400))
        return None


def _invisible(request: HttpRequest) -> HttpResponse | None:
    """A 404 of our own pages; the admin site speaks for itself."""
    match = request.resolver_match
    if match is None or match.namespace:
        return None
    if not request.user.is_authenticated:
        if is_plain_form(request):
            return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")
        error = CodedError(code="SIGNED_OUT", message="You are not signed in. Your text was kept.", fix="Sign in.")
        return refused(request, error, status=401)
    if request.headers.get("HX-Request") or wants_json(request):
        error = CodedError(
            code="NOT_FOUND",
            message="This can't be reached any more: it was deleted, or is no longer shared with you.",
            fix="Go back to the conversations.",
            correctable=False,
        )
        return refused(request, error, status=404)
    return None
