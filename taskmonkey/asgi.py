"""The site as an ASGI application: pages over HTTP, conversations over websockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")

from django.core.asgi import get_asgi_application

http_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402 - the apps must be loaded first
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.signals import request_finished  # noqa: E402
from django.db import connections  # noqa: E402

from assistants.routing import websocket_urlpatterns  # noqa: E402
from taskmonkey.origins import OwnPagesOnly  # noqa: E402


def close_connections(**kwargs: object) -> None:
    """A request runs in a thread of its own, which ends with it; long-lived threads keep their connections."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


request_finished.connect(close_connections)

application = ProtocolTypeRouter(
    {
        "http": http_application,
        "websocket": OwnPagesOnly(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
