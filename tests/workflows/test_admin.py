"""A tenant's own workflows in the admin: rows instead of JSON, the same rules, the drawn graph (decision 12, J-32, S09)."""

import pytest
from django.urls import reverse

from assistants.models import AuditEntry
from subchats.models import Workflow
from tests.admin.conftest import alice, charlie  # noqa: F401
from tests.workflows.steps import NODES, banana_count


def address(page, *args):
    return reverse(f"admin:subchats_workflow_{page}", args=args)


def data(nodes=NODES, **changes):
    """The form as the page sends it."""
    sent = {
        "title": "Banana count",
        "slug": "banana-count",
        "definition": "Counts the bananas of the day.",
        "exemplars": "How many bananas are left?\nZähle die Bananen",
        "enabled": "on",
    }
    for number, node in enumerate(nodes):
        for name, value in node.items():
            sent[f"nodes-{number}-{name}"] = ", ".join(value) if name == "requires" else value
    return sent | changes


def stored():
    return Workflow.objects.get(slug="banana-count")


def errors(response):
    return response.context["adminform"].form.errors


def test_decision_12_an_admin_of_the_team_writes_a_workflow_in_rows(ground, alice):  # noqa: F811
    response = alice.post(address("add"), data())

    assert response.status_code == 302, errors(response)
    assert stored().tenant == ground.apes
    assert stored().exemplars == ["How many bananas are left?", "Zähle die Bananen"]
    filled = [{name: value for name, value in node.items() if value} for node in stored().nodes]
    assert filled == NODES


def test_a_row_that_is_emptied_is_removed_and_a_place_moves_a_row(ground, alice):  # noqa: F811
    workflow = banana_count(ground.apes)
    free = [{**node, "requires": []} for node in NODES]
    sent = data([free[0], {}, free[2], {**free[3], "place": "0.5"}])

    assert alice.post(address("change", workflow.pk), sent).status_code == 302

    assert [node["id"] for node in stored().nodes] == ["file", "ask", "sign"]


def test_saving_the_page_as_it_is_changes_nothing(ground, alice):  # noqa: F811
    workflow = banana_count(ground.apes)
    page = alice.get(address("change", workflow.pk))
    form = page.context["adminform"].form

    assert not form.fields["nodes"].has_changed(
        workflow.nodes, [{**dict.fromkeys(("note", "hazard"), ""), **node} for node in NODES]
    )
    assert page.content.decode().count('<fieldset class="node-row') == len(NODES) + 3


@pytest.mark.parametrize(
    ("change", "row", "message"),
    [
        ({"nodes-1-requires": "fly"}, 1, "there is no such step"),
        ({"nodes-1-requires": "sign"}, 1, "wait for each other"),
        ({"nodes-0-owner": "nobody"}, 0, "no assistant “nobody”"),
        ({"nodes-0-operations": ["fly"]}, 0, "no tool “fly”"),
        ({"nodes-2-operations": ["calculate"]}, 2, "A person does this step"),
        ({"nodes-2-note": ""}, 2, "says what and who"),
        ({"nodes-3-id": "ask"}, 3, "the id of two steps"),
        ({"nodes-0-id": "No good id"}, 0, "is no id"),
    ],
)
def test_j32_j35_what_is_wrong_is_said_at_its_row_and_nothing_is_stored(ground, alice, change, row, message):  # noqa: F811
    workflow = banana_count(ground.apes)

    response = alice.post(address("change", workflow.pk), data(title="Changed", **change))

    assert response.status_code == 200
    assert message in " ".join(errors(response)["nodes"])
    rows = response.content.decode().split('<fieldset class="node-row')[1:]
    assert [number for number, text in enumerate(rows) if message in text] == [row]
    assert rows[row].startswith(" wrong")
    assert stored().title == "Banana count"


def test_j32_the_short_name_of_a_workflow_of_the_product_is_taken(ground, alice):  # noqa: F811
    response = alice.post(address("add"), data(slug="comparison"))

    assert "already" in str(errors(response)["slug"])


def test_the_short_name_can_not_be_changed_since_records_hold_it(ground, alice):  # noqa: F811
    workflow = banana_count(ground.apes)

    alice.post(address("change", workflow.pk), data(slug="other", title="Changed"))

    assert (stored().slug, stored().title) == ("banana-count", "Changed")


def test_the_page_draws_the_graph(ground, alice):  # noqa: F811
    workflow = banana_count(ground.apes)

    page = alice.get(address("change", workflow.pk)).content.decode()

    graph = page[page.index('<svg class="graph"') : page.index("</svg>", page.index('<svg class="graph"'))]
    assert graph.count("<rect") == 4 and graph.count('class="line"') == 3
    assert graph.count('class="person"') == 1
    assert "style=" not in graph


@pytest.mark.parametrize("page", ["change", "delete", "history"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_s09_another_tenants_workflow_is_not_there_and_the_attempt_is_noted(ground, charlie, page, method):  # noqa: F811
    workflow = banana_count(ground.apes)

    response = getattr(charlie, method)(address(page, workflow.pk), {"post": "yes"})

    assert response.status_code == 404
    assert stored()
    assert AuditEntry.objects.get(action="admin.refused").target == f"workflow {workflow.pk}"


def test_s09_a_list_and_a_form_show_ones_own_team_only(ground, charlie):  # noqa: F811
    workflow = banana_count(ground.apes)
    ground.assistant("guide", tenant=ground.bears, name="Bear guide")

    listed = charlie.get(address("changelist")).content.decode()
    form = charlie.get(address("add")).content.decode()

    assert workflow.title not in listed
    assert "Bear guide" in form and '<option value="lead"' not in form
