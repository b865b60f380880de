"""Requests that can't be read: what is too big is refused in words, and the page keeps what was typed."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.defaults import bad_request as plain_bad_request

from assistants.errors import CodedError
from assistants.forms import refused


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answers a request that Django could not take: 413 with a sentence for one that is too big, else its own 400."""
    if not isinstance(exception, RequestDataTooBig):
        return plain_bad_request(request, exception)
    # It can't be read now either.
    request.POST = QueryDict()  # type: ignore[assignment]
    limit = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) // 1024
    message = f"That is more than {limit} KB at once. It was not sent, and your text was kept."
    error = CodedError("MESSAGE_TOO_LONG", message, field="text", fix="Shorten it, or put the text into a document folder.")
    return refused(request, error, status=413)
