"""What other machines ask of the site: does it live, can it serve, what has it counted?"""

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.views.decorators.http import require_safe

from assistants import health, metrics


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answers while the process lives; looks at nothing, so that a slow database gets nobody killed.

    With `?parts` it looks, and says of each part whether it is ok, degraded or failing; no more than that.
    """
    return JsonResponse({"ok": True, **({"parts": health.states()} if "parts" in request.GET else {})})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if this process can serve, else 503; of what fails it says the names and nothing more."""
    found = health.readiness()
    answer = {"ok": not found.failing, "failing": found.failing, "degraded": found.degraded}
    return JsonResponse(answer, status=503 if found.failing else 200)


@require_safe
def figures(request: HttpRequest) -> HttpResponse:
    """The figures for Prometheus, for whoever sends the token; for everybody else there is nothing here."""
    found = metrics.read() if metrics.is_allowed(request.headers.get("Authorization", "")) else None
    return HttpResponseNotFound() if found is None else HttpResponse(found, content_type=metrics.CONTENT_TYPE)
