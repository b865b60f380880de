"""A small house for the engine to work in: tools, assistants and a real folder, in plain Python, without a database."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from simpleeval import simple_eval

from assistants.llm.builtin import builtin_model
from assistants.llm.profile import Profile

PROFILE = Profile(provider="builtin", model="builtin")


def _arguments(name: str, **fields: Any) -> type[BaseModel]:
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


Short = Annotated[str, Field(min_length=1, max_length=200)]
ARGUMENTS: dict[str, type[BaseModel]] = {
    "search_documents": _arguments(
        "search_documents",
        query=(Annotated[str, Field(min_length=1, max_length=300)], ...),
        limit=(Annotated[int, Field(ge=1, le=20)], 8),
    ),
    "read_document": _arguments(
        "read_document",
        document=(Annotated[str, Field(min_length=1, max_length=400)], ...),
        start=(Annotated[int, Field(ge=1)], 1),
        lines=(Annotated[int, Field(ge=1, le=400)], 120),
    ),
    "calculate": _arguments("calculate", expression=(Annotated[str, Field(max_length=200)], ...)),
    "current_time": _arguments("current_time", zone=(Annotated[str, Field(max_length=60)], "")),
    "ask_clarifying_question": _arguments(
        "ask_clarifying_question",
        question=(Annotated[str, Field(min_length=1, max_length=500)], ...),
        options=(Annotated[list[Short], Field(min_length=2, max_length=6)], ...),
        allowFreeText=(bool, True),
    ),
    "hand_back": _arguments(
        "hand_back", whatIsNeeded=(str, "Not stated."), whatIEstablished=(str, "nothing"), owningAgent=(str | None, None)
    ),
    "spawn_agent": _arguments(
        "spawn_agent",
        task=(Annotated[str, Field(min_length=1)], ...),
        prompt=(Annotated[str, Field(min_length=1)], ...),
        tools=(list[str], ...),
        based_on=(str | None, None),
        context=(str | None, None),
    ),
}
OWN = ("search_documents", "read_document", "calculate", "current_time", "ask_clarifying_question")


@dataclass(frozen=True)
class Staff:
    """One assistant of the house."""

    slug: str
    name: str
    description: str
    instructions: str = "Answer from the documents."
    tools: tuple[str, ...] = OWN
    delegates: tuple[str, ...] = ()


@dataclass
class House:
    """Runs assistants on the engine until a turn ends. `log` keeps every call that was made, in order."""

    staff: Sequence[Staff]
    documents: Mapping[str, str] = field(default_factory=dict)
    all_words: bool = False
    log: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    tool_results: list[str] = field(default_factory=list)

    def member(self, slug: str) -> Staff:
        return next(each for each in self.staff if each.slug == slug)

    def tools_of(self, staff: Staff, *, child: bool = False) -> list[ToolDefinition]:
        names = [*staff.tools, *(["hand_back"] if child else [])]
        found = [define(name) for name in names]
        return [*found, define_invoke([self.member(each) for each in staff.delegates])] if staff.delegates else found

    async def turn(self, slug: str, history: list[ModelMessage], text: str, *, child: bool = False) -> str:
        """Adds the message and everything that follows it to the history; gives the reply, or "" after a question."""
        staff = self.member(slug)
        if not history:
            history.append(ModelRequest(parts=[SystemPromptPart(staff.instructions)]))
        history.append(ModelRequest(parts=[UserPromptPart(text)]))
        for _ in range(12):
            response = await reply(history, self.tools_of(staff, child=child))
            history.append(response)
            calls = response.tool_calls
            if not calls:
                return response.text or ""
            results = [await self.run(slug, call) for call in calls]
            history.append(ModelRequest(parts=results))
            if any(call.tool_name in ("ask_clarifying_question", "hand_back") for call in calls):
                return ""
        raise AssertionError("the turn did not end")

    async def run(self, slug: str, call: ToolCallPart) -> ToolReturnPart:
        """Checks a call as strictly as the product does, then carries it out."""
        arguments = call.args_as_dict(raise_if_invalid=True)
        self.log.append((slug, call.tool_name, arguments))
        staff = self.member(slug)
        allowed = {*staff.tools, "hand_back", *(["invoke_assistant"] if staff.delegates else [])}
        assert call.tool_name in allowed, f"{slug} called {call.tool_name}"
        if call.tool_name == "invoke_assistant":
            invoke_arguments(staff.delegates).model_validate(arguments)
            value = await self.invoke(**arguments)
        else:
            ARGUMENTS[call.tool_name].model_validate(arguments)
            value = self.tool(call.tool_name, arguments)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.tool_results.append(text)
        return ToolReturnPart(call.tool_name, text, tool_call_id=call.tool_call_id)

    async def invoke(self, assistant: str, task: str, context: str = "") -> dict[str, Any]:
        history: list[ModelMessage] = []
        if context:
            prompt = f"{self.member(assistant).instructions}\n\n<context>\n{context}\n</context>"
            history.append(ModelRequest(parts=[SystemPromptPart(prompt)]))
        answer = await self.turn(assistant, history, task, child=True)
        last = [part for message in history if isinstance(message, ModelResponse) for part in message.tool_calls][-1:]
        handed = last[0].args_as_dict() if last and last[0].tool_name == "hand_back" else None
        error = None
        if handed:
            lines = ["[HANDED_BACK] field=- fix=Route it.", f"The sub-task was handed back. Needed: {handed['whatIsNeeded']}"]
            lines += [f"Established: {handed['whatIEstablished']}", "Act on it now."]
            error = "\n".join(lines)
        return {
            "success": handed is None,
            "sub_chat_id": "sub_1_00000000",
            "reply": answer,
            "tools_used": [],
            "iterations": 1,
            "error": error,
        }

    def tool(self, name: str, arguments: dict[str, Any]) -> Any:
        if name == "search_documents":
            return search(self.documents, all_words=self.all_words, **arguments)
        if name == "read_document":
            return read(self.documents, **arguments)
        if name == "calculate":
            return {"expression": arguments["expression"], "value": simple_eval(arguments["expression"])}
        if name == "current_time":
            return {"time": "2025-03-04T14:05:00+01:00", "weekday": "Tuesday", "zone": arguments.get("zone") or "Europe/Berlin"}
        return arguments


async def reply(messages: list[ModelMessage], tools: list[ToolDefinition]) -> ModelResponse:
    """One streamed reply of the engine, over the interface that every model has."""
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=True)
    async with model_request_stream(builtin_model(PROFILE), messages, model_request_parameters=parameters) as stream:
        async for _ in stream:
            pass
        return stream.get()


def define(name: str) -> ToolDefinition:
    return ToolDefinition(name=name, description=name, parameters_json_schema=ARGUMENTS[name].model_json_schema())


def define_invoke(delegates: Iterable[Staff]) -> ToolDefinition:
    delegates = list(delegates)
    lines = [f"- {each.slug}: {each.name} — {each.description}" for each in delegates]
    description = "\n".join(["Pass a task on to another assistant.", "", "Assistants:", *lines])
    schema = invoke_arguments([each.slug for each in delegates]).model_json_schema()
    return ToolDefinition(name="invoke_assistant", description=description, parameters_json_schema=schema)


def invoke_arguments(slugs: Sequence[str]) -> type[BaseModel]:
    return _arguments("invoke_assistant", assistant=(Literal[tuple(slugs)], ...), task=(str, ...), context=(str, ""))


def read_folder(folder: Path, pattern: Callable[[str], bool] = lambda name: True) -> dict[str, str]:
    """Every text file under a folder by its relative name."""
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and pattern(path.name)
    }


def search(documents: Mapping[str, str], query: str, limit: int = 8, *, all_words: bool = False) -> dict[str, Any]:
    """A full-text search by SQLite over passages of about fourteen lines: any of the words, or all of them."""
    words = [f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query))]
    if not words:
        return {"query": query, "total": 0, "results": []}
    columns = "document, place, title, passage"
    with closing(_index(tuple(documents.items()))) as index:
        matching = (" AND " if all_words else " OR ").join(words)
        (total,) = index.execute("SELECT count(*) FROM passages WHERE passages MATCH ?", [matching]).fetchone()
        rows = index.execute(
            f"SELECT {columns}, -bm25(passages, 0, 0, 2, 1) FROM passages WHERE passages MATCH ? ORDER BY 5 DESC, 1, 2 LIMIT ?",
            [matching, limit],
        ).fetchall()
    keys = ("document", "place", "title", "passage", "score")
    return {"query": query, "total": total, "results": [dict(zip(keys, row, strict=True)) for row in rows]}


def _index(documents: tuple[tuple[str, str], ...]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    index.execute(
        "CREATE VIRTUAL TABLE passages USING fts5(document UNINDEXED, place UNINDEXED, title, passage, "
        "tokenize='porter unicode61 remove_diacritics 2')"
    )
    passages = [passage for name, text in documents for passage in _passages(name, text)]
    index.executemany("INSERT INTO passages VALUES (:document, :place, :title, :passage)", passages)
    return index


def read(documents: Mapping[str, str], document: str, start: int = 1, lines: int = 120) -> Any:
    if document not in documents:
        return f"[DOCUMENT_UNKNOWN] field=document fix=Use a name from search_documents.\nThere is no document “{document}”."
    every = documents[document].splitlines()
    shown = every[start - 1 : start - 1 + lines]
    end = start + len(shown) - 1
    return {"document": document, "start": start, "end": end, "total_lines": len(every), "text": "\n".join(shown)}


def _passages(name: str, text: str) -> list[dict[str, Any]]:
    lines = text.splitlines()
    title = next((line.lstrip("# ").strip() for line in lines if line.strip()), name)
    found, heading, start = [], title, 0
    for place in [*range(1, len(lines)), len(lines)]:
        full = place - start >= 14 and (place == len(lines) or not lines[place].strip())
        if place == len(lines) or full or lines[place].startswith("#"):
            if lines[start].startswith("#"):
                heading = lines[start].lstrip("# ").strip()
            end = place
            while end > start and not lines[end - 1].strip():
                end -= 1
            body = "\n".join(lines[start:end])
            if body.strip():
                found.append({"document": name, "place": f"lines {start + 1}-{end}", "title": heading, "passage": body})
            start = place
    return found
