"""The record of assistants working for other assistants."""

from .delegation import Delegation
from .memory import ResearchInsight, ResearchSignal
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
    "ResearchInsight",
    "ResearchRun",
    "ResearchSignal",
    "Workflow",
    "WorkflowRecord",
]
