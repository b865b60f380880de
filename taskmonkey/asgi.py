"""The site as an ASGI application: pages over HTTP, conversations over websockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")

import django

django.setup(set_prefix=False)

from channels.auth import AuthMiddleware  # noqa: E402 - the apps must be loaded first
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402
from django.core.signals import request_finished  # noqa: E402

from assistants.routing import websocket_urlpatterns  # noqa: E402
from assistants.units import let_go  # noqa: E402
from taskmonkey.handlers import SiteHandler  # noqa: E402
from taskmonkey.origins import OwnPagesOnly  # noqa: E402
from taskmonkey.sessions import WithSession  # noqa: E402


def let_go_after(**kwargs: object) -> None:
    """Between two requests a thread needs no connection; those that work on without requests keep theirs."""
    let_go()


request_finished.connect(let_go_after)

application = ProtocolTypeRouter(
    {
        "http": SiteHandler(),
        "websocket": OwnPagesOnly(CookieMiddleware(WithSession(AuthMiddleware(URLRouter(websocket_urlpatterns))))),
    }
)
