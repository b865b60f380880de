"""The demo has a workflow of its own, in its own language, that keeps the rules."""

import pytest
from django.core.management import call_command

from assistants.models import Tenant
from subchats.models import Workflow
from subchats.workflows.catalogue import as_workflow, get_workflow, workflows_of
from subchats.workflows.matcher import match_workflows
from subchats.workflows.validation import workflow_problems


@pytest.mark.parametrize(
    ("language", "request_of_a_person"),
    [
        ("en", "What do we do about the faulty batch of zippers?"),
        ("de", "Was tun mit der fehlerhaften Charge Reißverschlüsse?"),
    ],
)
def test_the_demo_has_a_workflow_that_keeps_the_rules_and_is_found(db, language, request_of_a_person):
    call_command("demo", "--language", language, verbosity=0)

    tenant = Tenant.objects.get(slug="demo")
    workflow = as_workflow(Workflow.objects.get(tenant=tenant))
    owners = set(tenant.assistants.values_list("slug", flat=True))
    assert workflow_problems(workflow, owners=owners) == []
    assert match_workflows(request_of_a_person, workflows_of(tenant.pk))[0].workflow == workflow
    assert "find_graph_workflow" in tenant.assistants.get(slug="lead").tools


def test_what_a_person_changed_in_it_stays(db):
    call_command("demo", verbosity=0)
    Workflow.objects.update(title="Ours")

    call_command("demo", verbosity=0)

    assert get_workflow(Tenant.objects.get(slug="demo").pk, "quality-incident").title == "Ours"
