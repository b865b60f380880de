from typing import Any

from django.db import migrations

from assistants.migrations._words import CallThings

MODELS: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "curatedresult": ({"verbose_name": "curated result", "verbose_name_plural": "curated results"}, {}),
    "datasourcegrant": (
        {"verbose_name": "datasource grant", "verbose_name_plural": "datasource grants"},
        {
            "assistant": {"verbose_name": "assistant"},
            "scopes": {"verbose_name": "scopes"},
            "source": {"verbose_name": "source"},
            "tags": {"verbose_name": "tags"},
            "tenant": {"verbose_name": "tenant"},
        },
    ),
    "delegation": (
        {"verbose_name": "delegation", "verbose_name_plural": "delegations"},
        {
            "call": {"verbose_name": "call"},
            "child": {"verbose_name": "child"},
            "created": {"verbose_name": "created"},
            "hand_back": {"verbose_name": "hand back"},
            "kind": {"verbose_name": "kind", "choices": [("invoke", "invoke"), ("spawn", "spawn"), ("explore", "explore")]},
            "label": {"verbose_name": "label"},
            "position": {"verbose_name": "position"},
            "report": {"verbose_name": "report"},
            "returned_at": {"verbose_name": "returned at"},
            "sent_turn": {"verbose_name": "sent turn"},
            "task": {"verbose_name": "task"},
        },
    ),
    "evidence": ({"verbose_name": "piece of evidence", "verbose_name_plural": "evidence"}, {}),
    "explorertask": ({"verbose_name": "explorer task", "verbose_name_plural": "explorer tasks"}, {}),
    "localdiscovery": (
        {"verbose_name": "local discovery"},
        {"command": {"verbose_name": "command"}, "enabled": {"verbose_name": "enabled"}, "tenant": {"verbose_name": "tenant"}},
    ),
    "managedexplorer": ({"verbose_name": "managed explorer", "verbose_name_plural": "managed explorers"}, {}),
    "plan": ({"verbose_name": "plan", "verbose_name_plural": "plans"}, {}),
    "planstep": ({"verbose_name": "plan step", "verbose_name_plural": "plan steps"}, {}),
    "researchinsight": ({"verbose_name": "research insight", "verbose_name_plural": "research insights"}, {}),
    "researchrun": ({"verbose_name": "research run", "verbose_name_plural": "research runs"}, {}),
    "researchsignal": ({"verbose_name": "research signal", "verbose_name_plural": "research signals"}, {}),
    "workflow": (
        {"verbose_name": "workflow", "verbose_name_plural": "workflows"},
        {
            "definition": {"verbose_name": "definition"},
            "enabled": {"verbose_name": "enabled"},
            "exemplars": {"verbose_name": "exemplars"},
            "nodes": {"verbose_name": "nodes"},
            "slug": {"verbose_name": "slug"},
            "tenant": {"verbose_name": "tenant"},
            "title": {"verbose_name": "title"},
        },
    ),
    "workflowrecord": ({"verbose_name": "workflow record", "verbose_name_plural": "workflow records"}, {}),
}


class Migration(migrations.Migration):
    dependencies = [("assistants", "0019_words_for_people"), ("subchats", "0006_sources")]

    operations = [CallThings(MODELS)]
