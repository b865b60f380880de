"""Starts the app: its receivers listen for finished turns."""

from django.apps import AppConfig


class SubchatsConfig(AppConfig):
    name = "subchats"
    verbose_name = "Sub-chats"

    def ready(self) -> None:
        from subchats import checks, receivers  # noqa: F401
