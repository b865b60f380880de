"""Starts the app: its receivers listen for finished turns."""

from django.apps import AppConfig


class SubchatsConfig(AppConfig):
    name = "subchats"
    verbose_name = "Sub-chats"

    def ready(self) -> None:
        from assistants.rendering.cards import register_card
        from subchats import checks, receivers  # noqa: F401
        from subchats.cards import calls_at_work, card_context

        for tool in ("invoke_assistant", "spawn_agent"):
            register_card(tool, "subchats/card.html", card_context, at_work=calls_at_work)
