"""Whose socket it is: the session that the page's cookie names, which a socket reads and never writes."""

from importlib import import_module
from typing import Any

from django.conf import settings


class WithSession:
    """Puts the session into the scope, for what stands within; to be put within Channels' own reader of cookies.

    Channels' own middleware looks at each message of a socket for a chance to store the session or to set a cookie. There is
    none once the handshake is over.
    """

    def __init__(self, application: Any) -> None:
        self.application = application
        self._store = import_module(settings.SESSION_ENGINE).SessionStore

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        session = self._store(scope["cookies"].get(settings.SESSION_COOKIE_NAME))
        return await self.application({**scope, "session": session}, receive, send)
