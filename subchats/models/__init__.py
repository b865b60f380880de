"""The record of assistants working for other assistants."""

from .delegation import Delegation
from .plan import Plan, PlanStep
from .workflow import Workflow, WorkflowRecord

__all__ = ["Delegation", "Plan", "PlanStep", "Workflow", "WorkflowRecord"]
