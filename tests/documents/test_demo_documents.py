"""The search finds in the demo's documents what a newcomer asks for first."""

from pathlib import Path

import pytest

from assistants.documents.indexing import index_root
from assistants.documents.searching import search_passages
from assistants.models import DocumentRoot

DEMO = Path(__file__).parents[2] / "assistants" / "demo" / "documents"
ASKED = {
    "en": [
        ("Why did returns jump in week 47?", "report-week-47.md", "from 31 to 118"),
        ("How long does a refund take?", "refunds.md", "5 working days"),
        ("Which supplier makes the zippers, and how fast do they deliver?", "suppliers.md", "15 working days"),
        ("What is the damage rate per carrier?", "transport-damage.md", "1.4"),
        ("How do I send something back?", "sending-something-back.md", "parcel shop"),
    ],
    "de": [
        ("Warum sind die Retouren in Woche 47 gestiegen?", "bericht-woche-47.md", "sind 87 B12345"),
        ("Wie lange dauert eine Erstattung?", "erstattungen.md", "5 Werktage"),
        ("Welcher Lieferant macht die Reißverschlüsse, und wie schnell liefert er?", "lieferanten.md", "15 Werktage"),
        ("Wie hoch ist die Schadensquote je Paketdienst?", "transportschaeden.md", "1,4"),
        ("Wie schicke ich etwas zurück?", "etwas-zuruecksenden.md", "Paketshop"),
    ],
}


@pytest.mark.parametrize("language", ASKED)
def test_first_questions_are_answered_by_the_right_document(ground, language):
    roots = [
        DocumentRoot.objects.create(tenant=ground.apes, name=name, path=str(DEMO / language / name))
        for name in ("handbook", "help")
    ]
    reports = [index_root(root) for root in roots]

    assert [report.skipped for report in reports] == [(), ()]
    for question, document, answer in ASKED[language]:
        first = search_passages(roots, question, limit=8).hits[0]
        assert first.document.endswith(f"/{document}"), question
        assert answer in " ".join(first.passage.split()), question
