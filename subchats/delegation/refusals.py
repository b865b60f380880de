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


def not_allowed(name: str, allowed: list[str]) -> NotAllowed:
    """The same words for a stranger's, a disabled and an invented assistant (S27)."""
    return NotAllowed(
        code="DELEGATE_NOT_ALLOWED",
        field="assistant",
        message=f"You can't hand work to “{name[:80]}”. You may choose: {', '.join(allowed) or 'nobody'}.",
        fix="Choose one of these names exactly as written, or answer this part yourself.",
    )


def too_many_spawns(limit: int) -> CodedError:
    return CodedError(
        code="SPAWN_LIMIT",
        message=f"This turn has opened {limit} sub-chats already. Work with their reports.",
        fix="Answer with the reports you have and say what is still open.",
        correctable=False,
    )


def too_many_agents(limit: int) -> CodedError:
    return CodedError(
        code="TREE_LIMIT",
        message=f"{limit} assistants work on this request already, over all levels. No more can join.",
        fix="Answer with what you have and say what is still open.",
        correctable=False,
    )


def not_grantable(names: list[str], grantable: list[str]) -> NotAllowed:
    return NotAllowed(
        code="TOOL_NOT_GRANTABLE",
        field="tools",
        message=f"You can't give away: {', '.join(names)}. You may give: {', '.join(grantable) or 'no tools'}.",
        fix="Leave those tools out, or send an empty list.",
    )
