"""What a person reads of the product's workflows stands in German too."""

from pathlib import Path

import polib

from subchats.workflows.catalogue import BUILT_IN

GERMAN = Path(__file__).resolve().parents[2] / "locale/de/LC_MESSAGES/django.po"


def test_titles_hazards_and_what_a_person_has_to_do_are_in_german():
    known = {entry.msgid for entry in polib.pofile(str(GERMAN)) if entry.translated()}
    nodes = [node for workflow in BUILT_IN for node in workflow.nodes]

    shown = {workflow.title for workflow in BUILT_IN} | {node.title for node in nodes} | {node.hazard for node in nodes}
    shown |= {node.note for node in nodes if node.is_for_a_person}
    assert sorted(shown - known - {""}) == []
