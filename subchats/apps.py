"""Starts the app: its receivers listen for finished turns."""

from django.apps import AppConfig


class SubchatsConfig(AppConfig):
    name = "subchats"
    verbose_name = "Sub-chats"

    def ready(self) -> None:
        from assistants.rendering.cards import register_card
        from assistants.rendering.panel import register_section
        from subchats import checks, receivers  # noqa: F401
        from subchats.cards import calls_at_work, card_context, lane_pieces, lanes_context
        from subchats.workflows.rail import card_of, rails_of

        for tool in ("invoke_assistant", "spawn_agent"):
            register_card(tool, "subchats/card.html", card_context, at_work=calls_at_work)
        register_card("spawn_agents", "subchats/lanes.html", lanes_context, at_work=calls_at_work, pieces=lane_pieces)
        for tool in ("find_graph_workflow", "get_graph_workflow", "get_workflow_progress", "record_workflow_step"):
            register_card(tool, "subchats/workflow_card.html", card_of)
        register_section("subchats/rail.html", rails_of, order=40)
