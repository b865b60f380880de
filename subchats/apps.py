"""Starts the app: its receivers listen for finished turns."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SubchatsConfig(AppConfig):
    name = "subchats"
    verbose_name = _("Sub-chats")

    def ready(self) -> None:
        from assistants import tracing
        from assistants.rendering.bodies import register_body
        from assistants.rendering.cards import register_card
        from assistants.rendering.panel import register_section
        from assistants.rendering.turn_notes import register_note
        from assistants.turns.prompt import add_note
        from subchats import checks, receivers  # noqa: F401
        from subchats.cards import calls_at_work, card_context, lane_pieces, lanes_context
        from subchats.delegation.callers import caller_of
        from subchats.plan_cards import left_open_notes, plan_section
        from subchats.planning.approval import is_waiting
        from subchats.planning.telling import plan_note
        from subchats.sent_up import sent_up_bodies
        from subchats.workflows.rail import card_of, rails_of

        for tool in ("invoke_assistant", "spawn_agent"):
            register_card(tool, "subchats/card.html", card_context, at_work=calls_at_work)
        register_card("spawn_agents", "subchats/lanes.html", lanes_context, at_work=calls_at_work, pieces=lane_pieces)
        for tool in ("find_graph_workflow", "get_graph_workflow", "get_workflow_progress", "record_workflow_step"):
            register_card(tool, "subchats/workflow_card.html", card_of)
        register_card("write_plan", "subchats/plan_card.html", asks=is_waiting)
        register_card("confirm_step", "subchats/confirm_card.html")
        register_section("subchats/plan_panel.html", plan_section, order=10)
        register_note("subchats/left_open.html", left_open_notes)
        add_note(plan_note)
        tracing.use_caller(caller_of)
        register_section("subchats/rail.html", rails_of, order=40)
        register_body("subchats/sent_up.html", sent_up_bodies)
        self._ready_research()

    def _ready_research(self) -> None:
        from assistants.documents.methods import register_method
        from assistants.rendering.bodies import register_body
        from assistants.rendering.cards import register_card
        from assistants.rendering.citations import register_citations
        from assistants.rendering.turn_notes import register_note
        from assistants.setup.rules import add_rule
        from assistants.turns.conditions import require_at_end, require_before
        from assistants.turns.prompt import add_note
        from subchats import explorer_cards, health
        from subchats.cards import Face, calls_at_work, lane_pieces, lanes_context, register_asked, register_face
        from subchats.delegation.deliver import read_reports
        from subchats.models import Delegation
        from subchats.research import datasources, discovery
        from subchats.research.chat_history import ChatHistory
        from subchats.research.run import lacks_handoff, lacks_results, lacks_tools, tell
        from subchats.research.sending import take_report
        from subchats.research.setting_up import research_problems
        from subchats.research_cards import citations_in, failed_researches, results_context

        register_card("subagent", "subchats/lanes.html", lanes_context, at_work=calls_at_work, pieces=lane_pieces)
        register_card("emit_autorag_results", "subchats/results.html", results_context)
        face = Face(explorer_cards.worded_task, explorer_cards.worded_report, explorer_cards.worded_label)
        register_face(Delegation.Kind.EXPLORE, face)
        register_asked("subagent", explorer_cards.worded_dispatch)
        register_body("subchats/assignment.html", explorer_cards.assignments)
        register_body("subchats/handoff.html", explorer_cards.handoffs)
        register_citations(citations_in)
        register_note("subchats/no_results.html", failed_researches)
        read_reports(Delegation.Kind.EXPLORE, take_report)
        require_before(lacks_tools)
        require_at_end(lacks_results)
        require_at_end(lacks_handoff)
        add_note(tell)
        add_rule(research_problems)
        health.register_parts()
        datasources.register_datasource(ChatHistory())
        register_method(datasources.METHOD, datasources.datasource_hits)
        register_method(discovery.METHOD, discovery.discovery_hits)
