"""The addresses of sockets."""

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from assistants.consumers import ThreadConsumer

# Any other address is refused; without the last line each try would fill the log with a traceback.
websocket_urlpatterns = [path("ws/c/<str:chat_id>/", ThreadConsumer.as_asgi()), re_path("", WebsocketDenier.as_asgi())]
