"""The refusals of a delegation, each with the instruction that tells the model what to do instead (J-12)."""

from assistants.errors import CodedError, NotAllowed


def too_deep(depth: int) -> CodedError:
    return CodedError(
        code="DEPTH_EXCEEDED",
        message=f"You are a sub-chat of level {depth}; below you nobody can be asked. Do this part yourself, or report"
        " what you have and what is missing.",
        fix="Answer without delegating.",
        correctable=False,
    )


def not_allowed(name: str, allowed: list[str], *, field: str) -> NotAllowed:
    """The same words for a stranger's, a disabled and an invented assistant (J-14, S27)."""
    return NotAllowed(
        code="DELEGATE_NOT_ALLOWED",
        field=field,
        message=f"You can't hand work to “{name[:80]}”. You may choose: {', '.join(allowed) or 'nobody'}.",
        fix="Choose one of these names exactly as written, or answer this part yourself.",
    )


def budget_exhausted() -> CodedError:
    """What to do instead of delegating, in four parts (J-13)."""
    return CodedError(
        code="BUDGET_EXHAUSTED",
        message="The tokens of this request are used up, so nobody else can be set to work. Take stock of where you are. Report"
        " what is established. Name what you were about to delegate next, and to whom. Ask whether you are on the right lines.",
        fix="Answer now, without delegating: stock, findings, next step, question.",
        correctable=False,
    )


def too_many_at_once(running: int, limit: int) -> CodedError:
    return CodedError(
        code="SPAWN_LIMIT",
        message=f"{running} of your sub-chats are at work, and no more than {limit} may be at the same time.",
        fix="Work with the reports as they come, then delegate the rest or say what is still open.",
        correctable=False,
    )


def too_many_agents(limit: int) -> CodedError:
    return CodedError(
        code="TREE_LIMIT",
        message=f"No more than {limit} assistants may work on this request, over all levels, and that many have.",
        fix="Answer with what you have and say what is still open.",
        correctable=False,
    )


def not_grantable(names: list[str], grantable: list[str], *, field: str) -> NotAllowed:
    return NotAllowed(
        code="TOOL_NOT_GRANTABLE",
        field=field,
        message=f"You can't give away: {', '.join(names)}. You may give: {', '.join(grantable) or 'no tools'}.",
        fix="Leave those tools out, or send an empty list.",
    )
