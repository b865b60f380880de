"""The site as an ASGI application: pages over HTTP, conversations over websockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")

from django.core.asgi import get_asgi_application

http_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402 - the apps must be loaded first
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from assistants.routing import websocket_urlpatterns  # noqa: E402
from taskmonkey.origins import OwnPagesOnly  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http_application,
        "websocket": OwnPagesOnly(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
