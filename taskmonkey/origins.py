"""Which pages may open a socket: the same ones that may send a form."""

from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http.request import is_same_domain


class OwnPagesOnly:
    """Refuses a handshake before it is accepted unless its origin is this site's own, port included (S13).

    Cookies know no ports, so another program on the same machine must not pass for us; and a list of hosts that names
    any host is no list of origins.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        inner = self.application if is_own(scope) else WebsocketDenier()
        return await inner(scope, receive, send)


def is_own(scope: dict[str, Any]) -> bool:
    """Whether the handshake's one `Origin` is that of the host it was sent to, or is named in CSRF_TRUSTED_ORIGINS."""
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
    if len(origins) != 1:
        return False
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    # The rule of forms, asked of the same code: which host this is, and whether it was reached by https.
    request = ASGIRequest({"method": "GET", "path": "/", "scheme": scheme, **_asked(scope)}, BytesIO())
    try:
        own = f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        return False
    return origins[0] == own or _is_trusted(origins[0])


def _asked(scope: dict[str, Any]) -> dict[str, Any]:
    return {name: scope[name] for name in ("headers", "server", "client") if name in scope}


def _is_trusted(origin: str) -> bool:
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parsed = urlsplit(origin)
    except ValueError:
        return False
    wildcards = (urlsplit(each) for each in settings.CSRF_TRUSTED_ORIGINS if "*" in each)
    return any(each.scheme == parsed.scheme and is_same_domain(parsed.netloc, each.netloc.lstrip("*")) for each in wildcards)
