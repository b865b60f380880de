"""Starts the app: the toolbox of every installed app is loaded, so a lower app offers the tools of an upper one."""

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete, post_migrate
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from assistants.models import ToolCall


class AssistantsConfig(AppConfig):
    name = "assistants"
    verbose_name = _("Assistants")

    def ready(self) -> None:
        autodiscover_modules("toolbox")
        from assistants import checks, postgres  # noqa: F401
        from assistants.access import may_run
        from assistants.conversations import search_index, titles
        from assistants.conversations.timeline import timeline_of
        from assistants.documents import search_index as passage_index
        from assistants.documents.mirror import remove_mirror
        from assistants.rates import forget_past
        from assistants.receivers import stop_what_lost_its_right
        from assistants.rendering.cards import register_card
        from assistants.rendering.panel import register_section
        from assistants.rendering.tables import chart_card, file_card, table_card, tables_section
        from assistants.retention.ageing import forget_due
        from assistants.signals import sweeping, turn_finished
        from assistants.templatetags.spending import context_gauge, turn_budget
        from assistants.turns import backlog, executors, loop, watchdog

        postgres.prepare()
        post_migrate.connect(search_index.keep_in_step, sender=self)
        post_migrate.connect(passage_index.keep_in_step, sender=self)
        post_delete.connect(remove_mirror, sender="assistants.DocumentRoot")
        turn_finished.connect(titles.ask_for_title)
        sweeping.connect(stop_what_lost_its_right)
        sweeping.connect(watchdog.watch)
        sweeping.connect(lambda **_: forget_past(), weak=False)
        sweeping.connect(lambda **_: backlog.tell_waiting(), weak=False)
        loop.use_gate(may_run)
        self._measure()
        sweeping.connect(forget_due)
        if settings.TASKMONKEY["EXECUTOR"] == "celery":
            from assistants import tasks

            executors.use_doorbell(tasks.ring)
        register_section("assistants/parts/timeline.html", lambda present: {"timeline": timeline_of(present)}, order=30)
        register_section("assistants/parts/budget.html", turn_budget, order=50)
        register_section("assistants/parts/context.html", context_gauge, order=60)
        register_card("ask_clarifying_question", "events/calls/question.html", _question_context)
        register_card("cache_assembled_table", "events/calls/table.html", table_card)
        register_card("make_chart", "events/calls/chart.html", chart_card)
        register_card("export_table", "events/calls/file.html", file_card)
        register_section("assistants/parts/tables.html", tables_section, order=45)

    def _measure(self) -> None:
        from assistants import metrics, tracing

        metrics.start()
        tracing.start()


def _question_context(call: "ToolCall") -> dict[str, object]:
    """`pending` is false when the conversation went on without an answer: the prompt is read-only then."""
    pending = call.answer is None and call.outcome == call.Outcome.OK and call.turn.thread.leaf_id == call.message_id
    return {"allow_free_text": call.arguments.get("allowFreeText", True), "pending": pending}
