"""The fourteen reasons for which a dispatch is rejected, each with its fix; the only catalogue of them (A-30)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """What to do about a rejection, and whether the same request may be sent again once that is done."""

    fix: str
    correctable: bool = True


CODES: dict[str, Code] = {
    "DISPATCH_MALFORMED": Code("remove fields not owned by this action"),
    "DISPATCH_ACTION_UNKNOWN": Code("use list|get|models|status|doctor or a supported launch shape"),
    "DISPATCH_ADMIN_MUTATION_FORBIDDEN": Code("do not mutate subagent definitions during AutoRAG search", correctable=False),
    "DISPATCH_CONTROL_FORBIDDEN": Code(
        "launch a fresh autorag-explorer assignment instead of controlling an existing run", correctable=False
    ),
    "DISPATCH_SCHEDULE_FORBIDDEN": Code(
        "dispatch autorag-explorer work immediately; scheduling is disabled", correctable=False
    ),
    "DISPATCH_ARTIFACTS_INVALID": Code("set args.artifacts = false"),
    "DISPATCH_AGENT_SCOPE_INVALID": Code('set args.agentScope = "user"'),
    "DISPATCH_AGENT_IDENTITY": Code('set every executable leaf agent = "autorag-explorer"', correctable=False),
    "DISPATCH_MODEL_MISMATCH": Code("set the referenced model field to the configured explorer model"),
    "DISPATCH_ASSIGNMENT_INVALID": Code("replace the task assignment with the canonical AUTORAG_ASSIGNMENT_V1 block"),
    "DISPATCH_QUERY_MISMATCH": Code("set originalQuery to the active user query verbatim"),
    "DISPATCH_CWD_MISSING": Code("set each executable leaf cwd to one configured search root"),
    "DISPATCH_CWD_OUTSIDE_ROOTS": Code("use a configured search root without symlink escape", correctable=False),
    "DISPATCH_NO_ACTIVE_QUERY": Code("dispatch only while an AutoRAG search query is active", correctable=False),
}
