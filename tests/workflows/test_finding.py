"""A workflow is found by words alone (J-33)."""

import json

import pytest

from assistants.documents import searching
from subchats.workflows.catalogue import BUILT_IN, workflows_of
from subchats.workflows.matcher import match_workflows
from tests.kit.turns import run_all
from tests.workflows.steps import banana_count, call, calls_of


def ids(task, workflows=BUILT_IN):
    return [match.workflow.id for match in match_workflows(task, workflows)]


@pytest.mark.parametrize("workflow", BUILT_IN, ids=lambda each: each.id)
def test_j33_an_exact_exemplar_ranks_first_whatever_its_case(workflow):
    for exemplar in workflow.exemplars:
        assert ids(exemplar.upper() + " ")[0] == workflow.id
        assert match_workflows(exemplar, BUILT_IN)[0].exact


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        ("Could you please compare the two tent suppliers for us?", "comparison"),
        ("Vergleiche bitte die Lieferanten der Reißverschlüsse", "comparison"),
        ("I need a chart of returned units", "data-to-chart"),
        ("Diagramme der Zahlen", "data-to-chart"),
        ("the monthly report for November", "monthly-figures"),
        ("an angry customer's complaint about a jacket", "answer-complaint"),
        ("Beantworte die Reklamation von Frau Meier", "answer-complaint"),
        ("new documents must be imported", "import-documents"),
        ("Wir brauchen einen neuen Assistenten für den Einkauf", "new-assistant"),
    ],
)
def test_j33_a_task_in_english_or_german_finds_its_workflow_by_its_words(task, wanted):
    assert ids(task)[0] == wanted


def test_j33_the_same_words_give_the_same_list():
    assert ids("compare the monthly figures") == ids("compare the monthly figures", tuple(reversed(BUILT_IN)))
    assert len(ids("report chart figures answer assistant documents model compare")) <= 5


@pytest.mark.parametrize("task", ["the of and is for", "xyzzy plugh", "…", "für und das"])
def test_j33_words_that_say_nothing_find_nothing(task):
    assert ids(task) == []


def test_j33_a_tenants_own_workflow_is_found_by_its_own_words(ground):
    banana_count(ground.apes)

    assert ids("Zähle bitte alle Bananen", workflows_of(ground.apes.pk))[0] == "banana-count"


def test_j33_finding_asks_no_model_and_no_search(troop, monkeypatch):
    monkeypatch.setattr(searching, "search_passages", lambda *args, **kwargs: pytest.fail("it searched"))
    troop.script([call("find_graph_workflow", task="Make a chart from this data"), "Found."])
    thread = troop.open()
    run_all()

    (found,) = calls_of(thread)
    assert json.loads(found.result)["workflows"][0]["workflowId"] == "data-to-chart"
    # Two replies of the lead and nothing else: the tool itself asked nobody.
    assert thread.turns.get().model_calls == 2
    assert [each.model_calls for each in type(thread.turns.get()).objects.all()] == [2]


def test_j33_no_overlap_gives_an_empty_list_with_a_hint(troop):
    troop.script([call("find_graph_workflow", task="Xyzzy"), "None."])
    thread = troop.open()
    run_all()

    result = json.loads(calls_of(thread)[0].result)
    assert result["workflows"] == []
    assert "other words" in result["hint"]
