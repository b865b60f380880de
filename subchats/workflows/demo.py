"""The demo tenant's own workflow, in English and German."""

from typing import Any

from assistants.models import Tenant
from subchats.models import Workflow

from .shape import OPERATOR

SLUG = "quality-incident"


def add_demo_workflow(tenant: Tenant, language: str) -> None:
    """Makes it once; what a person has changed in it since stays."""
    Workflow.objects.get_or_create(tenant=tenant, slug=SLUG, defaults=GERMAN if language == "de" else ENGLISH)


def _node(node_id: str, title: str, owner: str, produces: str, **more: Any) -> dict[str, Any]:
    return {"id": node_id, "title": title, "owner": owner, "produces": produces, **more}


ENGLISH: dict[str, Any] = {
    "title": "Quality incident",
    "definition": "Looks into faulty goods: how many units came back and why, blocks the batch and claims from the supplier.",
    "exemplars": [
        "Handle the quality incident with the zippers",
        "A batch is faulty, what do we have to do?",
        "Returns of one product jumped: look into it and claim from the supplier",
    ],
    "nodes": [
        _node(
            "returns",
            "Collect the returns",
            "returns",
            "Units that came back by week and reason, with quotes.",
            operations=["search_documents", "read_document"],
        ),
        _node(
            "rate",
            "Work out the rate",
            "lead",
            "The share of faulty units, with its calculation.",
            operations=["calculate"],
            requires=["returns"],
            hazard="A rate from incomplete figures blocks the wrong batch.",
        ),
        _node(
            "block",
            "Block the batch",
            OPERATOR,
            "A batch that is not sold any more.",
            requires=["rate"],
            hazard="Blocked too late, more faulty units go out.",
            note="The shift lead of the warehouse blocks the batch in the stock system and writes its number here.",
        ),
        _node(
            "claim",
            "Draft the claim",
            "purchasing",
            "A letter to the supplier with rate, batch and the agreed terms.",
            requires=["rate", "block"],
            hazard="A claim without the number of the blocked batch is sent back.",
        ),
        _node(
            "send",
            "Tell the supplier",
            OPERATOR,
            "A claim with a date of receipt.",
            requires=["claim"],
            note="Purchasing reads the draft and sends it to the supplier.",
        ),
    ],
}
GERMAN: dict[str, Any] = {
    "title": "Qualitätsvorfall",
    "definition": "Geht fehlerhafter Ware nach: wie viel kam zurück und warum; sperrt die Charge, meldet sie dem Lieferanten.",
    "exemplars": [
        "Bearbeite den Qualitätsvorfall mit den Reißverschlüssen",
        "Eine Charge ist fehlerhaft, was müssen wir tun?",
        "Die Retouren eines Artikels sind gestiegen: geh dem nach und reklamiere beim Lieferanten",
    ],
    "nodes": [
        _node(
            "returns",
            "Retouren sammeln",
            "returns",
            "Zurückgesandte Stücke nach Woche und Grund, mit Zitaten.",
            operations=["search_documents", "read_document"],
        ),
        _node(
            "rate",
            "Quote ausrechnen",
            "lead",
            "Der Anteil fehlerhafter Stücke mit seiner Rechnung.",
            operations=["calculate"],
            requires=["returns"],
            hazard="Eine Quote aus lückenhaften Zahlen sperrt die falsche Charge.",
        ),
        _node(
            "block",
            "Charge sperren",
            OPERATOR,
            "Eine Charge, die nicht mehr verkauft wird.",
            requires=["rate"],
            hazard="Zu spät gesperrt gehen weitere fehlerhafte Stücke hinaus.",
            note="Die Schichtleitung im Lager sperrt die Charge im Bestandssystem und schreibt ihre Nummer hierher.",
        ),
        _node(
            "claim",
            "Reklamation entwerfen",
            "purchasing",
            "Ein Brief an den Lieferanten mit Quote, Charge und den vereinbarten Bedingungen.",
            requires=["rate", "block"],
            hazard="Eine Reklamation ohne die Nummer der gesperrten Charge kommt zurück.",
        ),
        _node(
            "send",
            "Lieferanten benachrichtigen",
            OPERATOR,
            "Eine Reklamation mit Eingangsdatum.",
            requires=["claim"],
            note="Der Einkauf liest den Entwurf und schickt ihn an den Lieferanten.",
        ),
    ],
}
