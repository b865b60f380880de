"""Messages for the engine, written in a few words."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from assistants.llm.builtin.decision import Decision, Do, Say, decide
from assistants.llm.builtin.offers import read_offers
from assistants.llm.builtin.talk import read_talk


def system(text: str = "You lead a team.") -> ModelMessage:
    return ModelRequest(parts=[SystemPromptPart(text)])


def user(text: str) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text)])


def said(text: str) -> ModelMessage:
    return ModelResponse(parts=[TextPart(text)])


def called(tool: str, result: Any, **arguments: Any) -> list[ModelMessage]:
    """A call and what it returned; data is sent as JSON, as the product does."""
    key = f"{tool}-{json.dumps(arguments, sort_keys=True)}"
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return [
        ModelResponse(parts=[ToolCallPart(tool, json.dumps(arguments), tool_call_id=key)]),
        ModelRequest(parts=[ToolReturnPart(tool, content, tool_call_id=key)]),
    ]


def decision(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition]) -> Decision:
    return decide(read_talk(messages, read_offers(tools)))


def in_brief(decided: Decision) -> str:
    """`tool(main argument)` for each call, joined by `+`; the text of a reply as it is."""
    if isinstance(decided, Say):
        return decided.text
    assert isinstance(decided, Do)
    mains = {
        "search_documents": "query",
        "read_document": "document",
        "calculate": "expression",
        "current_time": "zone",
        "invoke_assistant": "assistant",
        "ask_clarifying_question": "question",
        "hand_back": "whatIsNeeded",
        "spawn_agent": "task",
    }
    return " + ".join(f"{call.tool}({call.arguments.get(mains[call.tool], '')})" for call in decided.calls)
