"""The record: what is stored about one assistant answering one thread."""

from .assistant import Assistant, AssistantVersion, PlanApproval, PlanGate
from .document_root import Document, DocumentRoot, Passage
from .domain import Domain
from .llm_profile import LLMProfile
from .message import Message
from .runner import Runner
from .spending import Budget, SpendEntry
from .stored_table import StoredTable
from .tally import Tally
from .tenant import AuditEntry, Membership, Role, Tenant
from .thread import Thread, ThreadShare
from .tool_call import ToolCall
from .turn import Turn
from .turn_event import TurnEvent
from .user import User

__all__ = [
    "Assistant",
    "AssistantVersion",
    "AuditEntry",
    "Budget",
    "Document",
    "DocumentRoot",
    "Domain",
    "LLMProfile",
    "Membership",
    "Message",
    "Passage",
    "PlanApproval",
    "PlanGate",
    "Role",
    "Runner",
    "SpendEntry",
    "StoredTable",
    "Tally",
    "Tenant",
    "Thread",
    "ThreadShare",
    "ToolCall",
    "Turn",
    "TurnEvent",
    "User",
]
