"""The addresses of sockets."""

from django.urls import path

from assistants.consumers import ThreadConsumer

websocket_urlpatterns = [path("ws/c/<str:chat_id>/", ThreadConsumer.as_asgi())]
