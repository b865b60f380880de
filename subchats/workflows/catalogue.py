"""Every workflow that a tenant has: the three sets of the product, then its own (J-32, decision 12)."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from assistants.errors import CodedError
from subchats.models import Workflow as OwnWorkflow

from .sets import analytics, content, platform
from .shape import Node, Workflow

BUILT_IN: tuple[Workflow, ...] = content.ALL + platform.ALL + analytics.ALL
NEAR_IDS = 3


def workflows_of(tenant_id: int) -> tuple[Workflow, ...]:
    """The product's workflows, then the tenant's own enabled ones by title."""
    own = OwnWorkflow.objects.filter(tenant_id=tenant_id, enabled=True)
    return BUILT_IN + tuple(as_workflow(row) for row in own)


def get_workflow(tenant_id: int, workflow_id: str) -> Workflow:
    """The workflow with this id. Raises `WORKFLOW_UNKNOWN`, which names ids that are near (J-34)."""
    known = {workflow.id: workflow for workflow in workflows_of(tenant_id)}
    if workflow_id in known:
        return known[workflow_id]
    near = _near(workflow_id, known.values())
    raise CodedError(
        code="WORKFLOW_UNKNOWN",
        field="workflowId",
        message=f"There is no workflow “{workflow_id[:80]}”. {'Near it' if near else 'There are'}: {', '.join(near or known)}.",
        fix="Use one of these ids, or look for one with find_graph_workflow.",
    )


def get_node(workflow: Workflow, node_id: str) -> Node:
    """The step with this id. Raises `NODE_UNKNOWN`, which lists the workflow's steps (J-37)."""
    if node := workflow.find(node_id):
        return node
    raise CodedError(
        code="NODE_UNKNOWN",
        field="nodeId",
        message=f"“{workflow.id}” has no step “{node_id[:80]}”. Its steps: {', '.join(each.id for each in workflow.nodes)}.",
        fix="Use one of these ids.",
    )


def as_workflow(row: OwnWorkflow) -> Workflow:
    """A tenant's own workflow in the shape of the product's; whatever is missing in the row is empty."""
    nodes = row.nodes if isinstance(row.nodes, list) else []
    return Workflow(
        id=row.slug,
        title=row.title,
        definition=row.definition,
        exemplars=tuple(map(str, row.exemplars or ())),
        nodes=tuple(_as_node(each) for each in nodes if isinstance(each, dict)),
    )


def _as_node(row: dict[str, Any]) -> Node:
    texts = {name: str(row.get(name) or "") for name in ("id", "title", "owner", "produces", "hazard", "note")}
    lists = {name: tuple(map(str, row.get(name) or ())) for name in ("operations", "requires")}
    return Node(**texts, **lists)  # type: ignore[arg-type]


def _near(workflow_id: str, known: Iterable[Workflow]) -> list[str]:
    """Ids that look like the wanted one, or whose title does."""
    names = {name: workflow.id for workflow in known for name in (workflow.title.casefold(), workflow.id)}
    found = get_close_matches(workflow_id.casefold(), names, n=NEAR_IDS, cutoff=0.5)
    return list(dict.fromkeys(names[name] for name in found))
