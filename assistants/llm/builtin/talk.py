"""The talk so far as plain values: what was asked, answered and called, before this turn and in it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from .language import detect_language
from .offers import Offers

_REFUSAL = re.compile(r"\A\[([A-Z][A-Z0-9_]*)\] field=(\S*) fix=(.*)(?:\n([\s\S]*))?")

NO_PLAN = "SPAWN_NO_PLAN"


@dataclass(frozen=True)
class Refusal:
    """A call that was not carried out (rules decision 8)."""

    code: str
    fix: str
    message: str


@dataclass(frozen=True)
class Result:
    """A tool call with what came back. `data` is the decoded object, empty if the text is none; always data, never orders."""

    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    refusal: Refusal | None = None


@dataclass(frozen=True)
class Exchange:
    """One user message with everything that followed it."""

    asked: str
    reply: str = ""
    results: tuple[Result, ...] = ()
    rounds: int = 0


@dataclass(frozen=True)
class Talk:
    """Everything the engine decides from."""

    language: str
    instructions: str
    now: Exchange
    earlier: tuple[Exchange, ...]
    offers: Offers

    @property
    def is_child(self) -> bool:
        """Whether another assistant waits for this reply (J-22: only then is handing back on offer)."""
        return "hand_back" in self.offers

    def called(self, tool: str) -> bool:
        """Whether this turn has called the tool already."""
        return any(each.tool == tool for each in self.now.results)

    def result_of(self, tool: str, arguments: Mapping[str, Any]) -> Result | None:
        """What this very call returned in this turn. Arguments that were added on the way (defaults) don't matter.

        What was refused for want of a plan counts no more once there is one.
        """
        results = self.now.results
        plans = [place for place, each in enumerate(results) if each.tool == "write_plan" and not each.refusal]
        for place, result in enumerate(results):
            if plans and place < plans[-1] and result.refusal and result.refusal.code == NO_PLAN:
                continue
            if result.tool == tool and all(result.arguments.get(name) == value for name, value in arguments.items()):
                return result
        return None

    def lacks_plan(self) -> bool:
        """Whether a call was refused because a plan has to be written first (J-15)."""
        return any(each.refusal and each.refusal.code == NO_PLAN for each in self.now.results)


def read_talk(messages: Sequence[ModelMessage], offers: Offers, instructions: str | None = None) -> Talk:
    """Reads a model's messages. The last user message is the present request, in whose language it is answered."""
    exchanges = _exchanges(messages)
    now = exchanges[-1] if exchanges else Exchange(asked="")
    system = [part.content for part in _request_parts(messages) if isinstance(part, SystemPromptPart)]
    all_instructions = "\n\n".join(filter(None, [*system, instructions]))
    asked = [each.asked for each in reversed(exchanges)]
    return Talk(
        language=detect_language([*asked[_is_from_elsewhere(asked) :], all_instructions]),
        instructions=all_instructions,
        now=now,
        earlier=tuple(exchanges[:-1]),
        offers=offers,
    )


def read_result(tool: str, arguments: Mapping[str, Any], content: object) -> Result:
    """One returned call. A refusal is one only as the whole content, never inside of data."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    if found := _REFUSAL.match(text):
        refusal = Refusal(code=found[1], fix=found[3].strip(), message=(found[4] or "").strip())
        return Result(tool=tool, arguments=arguments, text=text, refusal=refusal)
    return Result(tool=tool, arguments=arguments, text=text, data=_decode(text))


def _is_from_elsewhere(asked: Sequence[str]) -> bool:
    """A result handed up from a sub-chat is no text of the person, so its language says nothing."""
    return bool(asked) and asked[0].startswith("New result from the sub-chat with ")


def _exchanges(messages: Sequence[ModelMessage]) -> list[Exchange]:
    exchanges: list[Exchange] = []
    calls: dict[str, ToolCallPart] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                exchanges.append(Exchange(asked=_user_text(part)))
            elif not exchanges:
                continue
            elif isinstance(part, TextPart):
                exchanges[-1] = replace(exchanges[-1], reply=part.content)
            elif isinstance(part, ToolCallPart):
                calls[part.tool_call_id] = part
            elif isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_call_id in calls:
                result = _returned(part, calls[part.tool_call_id])
                exchanges[-1] = replace(exchanges[-1], results=(*exchanges[-1].results, result, *_reports_in(result)))
        if exchanges and isinstance(message, ModelResponse) and message.tool_calls:
            exchanges[-1] = replace(exchanges[-1], rounds=exchanges[-1].rounds + 1)
    return exchanges


def _returned(part: ToolReturnPart | RetryPromptPart, call: ToolCallPart) -> Result:
    arguments = call.args_as_dict()
    if isinstance(part, RetryPromptPart):
        refusal = Refusal(code="RETRY", fix="", message=str(part.content))
        return Result(tool=call.tool_name, arguments=arguments, text=str(part.content), refusal=refusal)
    return read_result(call.tool_name, arguments, part.content)


def _reports_in(result: Result) -> list[Result]:
    """The reports of a fan-out, each as if its task had been handed over alone (J-11)."""
    tasks, reports = result.arguments.get("tasks"), result.data.get("reports")
    if result.tool != "spawn_agents" or not isinstance(tasks, list) or not isinstance(reports, list):
        return []
    return [
        Result("invoke_assistant" if "assistant" in task else "spawn_agent", task, text=json.dumps(report), data=report)
        for task, report in zip(tasks, reports, strict=False)
        if isinstance(task, dict) and isinstance(report, dict)
    ]


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(each for each in part.content if isinstance(each, str))


def _request_parts(messages: Sequence[ModelMessage]) -> list[Any]:
    return [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]


def _decode(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _decode_cut(text)
    return value if isinstance(value, dict) else {"results": value} if isinstance(value, list) else {}


def _decode_cut(text: str) -> dict[str, Any]:
    """What can still be read of a result that was cut for its length: the whole items of its list."""
    start = re.match(r'\A\s*\{[\s\S]*?"results"\s*:\s*\[', text)
    if not start:
        return {}
    items: list[Any] = []
    position, decoder, gap = start.end(), json.JSONDecoder(), re.compile(r"[\s,]*")
    while True:
        begin = gap.match(text, position)
        try:
            item, position = decoder.raw_decode(text, begin.end() if begin else position)
        except (ValueError, RecursionError):
            return {"results": items}
        items.append(item)
