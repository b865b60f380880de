"""What other machines ask of the site: does it live, and can it serve?"""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from assistants import health


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answers while the process lives; looks at nothing, so that a slow database gets nobody killed."""
    return JsonResponse({"ok": True})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if this process can serve, else 503; of what fails it says the names and nothing more."""
    found = health.readiness()
    answer = {"ok": not found.failing, "failing": found.failing, "degraded": found.degraded}
    return JsonResponse(answer, status=503 if found.failing else 200)
