"""The record of assistants working for other assistants."""

from .delegation import Delegation
from .plan import Plan, PlanStep
from .research import CuratedResult, Evidence, ExplorerTask, ManagedExplorer, ResearchRun
from .workflow import Workflow, WorkflowRecord

__all__ = [
    "CuratedResult",
    "Delegation",
    "Evidence",
    "ExplorerTask",
    "ManagedExplorer",
    "Plan",
    "PlanStep",
    "ResearchRun",
    "Workflow",
    "WorkflowRecord",
]
