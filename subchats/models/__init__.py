"""The record of assistants working for other assistants."""

from .delegation import Delegation
from .memory import ResearchInsight, ResearchSignal
from .plan import Plan, PlanStep
from .research import CuratedResult, Evidence, ExplorerTask, ManagedExplorer, ResearchRun
from .sources import DatasourceGrant, LocalDiscovery
from .workflow import Workflow, WorkflowRecord

__all__ = [
    "CuratedResult",
    "DatasourceGrant",
    "Delegation",
    "Evidence",
    "ExplorerTask",
    "LocalDiscovery",
    "ManagedExplorer",
    "Plan",
    "PlanStep",
    "ResearchInsight",
    "ResearchRun",
    "ResearchSignal",
    "Workflow",
    "WorkflowRecord",
]
