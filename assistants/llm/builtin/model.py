"""The engine as a model: messages and tools go in, words or tool calls stream out."""

import json
import re
from collections.abc import AsyncIterator

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from assistants.llm.profile import Profile

from .decision import Do, decide
from .offers import read_offers
from .talk import read_talk


def builtin_model(profile: Profile) -> FunctionModel:
    """The model of a built-in profile. It needs no network and no key, and the same messages give the same reply."""
    return FunctionModel(stream_function=stream_reply, model_name=profile.model or "builtin")


async def stream_reply(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """Yields the reply word by word, or all tool calls at once; never both."""
    decision = decide(read_talk(messages, read_offers(info.function_tools), info.instructions))
    if isinstance(decision, Do):
        for place, call in enumerate(decision.calls):
            arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
            yield {place: DeltaToolCall(call.tool, arguments, tool_call_id=f"builtin-{len(messages)}-{place}")}
        return
    for word in re.findall(r"\s*\S+\s*?(?=\s*\S|\Z)|\s+\Z", decision.text) or [" "]:
        yield word
