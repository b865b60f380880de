"""Every tool of the product by name, each made from a plain function and its signature."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition

from .guard.rules import Risk


@dataclass(frozen=True)
class Tool:
    """A declared tool.

    `effect` is pure, idempotent or once (D5). `in_transaction` runs the body on the runner's own thread, for tools
    that only touch our database; all others get a thread of their own and are given up after `seconds`.
    `ends_turn` is `alone` (no other call of the same reply runs) or `last` (the others run first), or empty.
    `describe` may adapt the definition to whoever is asked, or return None when the tool is of no use there.
    The guard reads arguments and results (decision 11): `free_text` names the arguments that are prose for a person, a
    search or another assistant; `risk` says how far results are from our own words; of a tool that `filters` only the
    poisoned paragraphs of a result are withheld. `approval` has a person agree to each call's exact arguments (D8).
    """

    name: str
    description: str
    function: Callable[..., Any]
    arguments: type[BaseModel]
    effect: str
    reads_private: bool
    takes_untrusted: bool
    sends_out: bool
    delegates: bool
    in_transaction: bool
    seconds: float | None
    ends_turn: str
    describe: Callable[[ToolDefinition, Definition, Thread], ToolDefinition | None] | None
    free_text: frozenset[str]
    risk: Risk
    filters: bool
    approval: bool

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Its arguments as JSON schema, made once: whoever adapts it changes a copy."""
        return self.arguments.model_json_schema()

    def define(self, definition: Definition, thread: Thread) -> ToolDefinition | None:
        """What the model of this assistant is told about the tool."""
        plain = ToolDefinition(name=self.name, description=self.description, parameters_json_schema=self.schema)
        return self.describe(plain, definition, thread) if self.describe else plain


_tools: dict[str, Tool] = {}


def tool(
    *,
    effect: str = "pure",
    reads_private: bool = False,
    takes_untrusted: bool = False,
    sends_out: bool = False,
    delegates: bool = False,
    in_transaction: bool = False,
    seconds: float | None = None,
    ends_turn: str = "",
    describe: Callable[[ToolDefinition, Definition, Thread], ToolDefinition | None] | None = None,
    free_text: Iterable[str] = (),
    risk: Risk | None = None,
    filters: bool = False,
    approval: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a function as a tool: its name, docstring and signature become what the model sees.

    The first parameter is the `ToolContext`; all others are the arguments, described by `Annotated[..., Field(...)]`.
    Without a `risk` results are of medium risk if they come from outside or from another assistant, else low.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        if name in _tools and _tools[name].function.__module__ != function.__module__:
            raise ValueError(f"Two tools are named {name}.")
        arguments = _arguments_of(function)
        known = {field.alias or each for each, field in arguments.model_fields.items()}
        open_ended = arguments.model_config.get("extra") == "allow"
        if not open_ended and (unknown := set(free_text) - known):
            raise ValueError(f"{name} has no arguments {unknown} that could be free text.")
        _tools[name] = Tool(
            name=name,
            description=inspect.cleandoc(function.__doc__ or ""),
            function=function,
            arguments=arguments,
            effect=effect,
            reads_private=reads_private,
            takes_untrusted=takes_untrusted,
            sends_out=sends_out,
            delegates=delegates,
            in_transaction=in_transaction,
            seconds=seconds,
            ends_turn=ends_turn,
            describe=describe,
            free_text=frozenset(free_text),
            risk=(Risk.MEDIUM if takes_untrusted or delegates else Risk.LOW) if risk is None else risk,
            filters=filters,
            approval=approval,
        )
        return function

    return register


def _arguments_of(function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    own = list(inspect.signature(function).parameters.values())[1:]
    # A tool that takes any arguments checks them itself, and describes them itself.
    open_ended = bool(own) and own[-1].kind is inspect.Parameter.VAR_KEYWORD
    for parameter in own[:-1] if open_ended else own:
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    return create_model(function.__name__, __config__=ConfigDict(extra="allow" if open_ended else "forbid"), **fields)


def find_tool(name: str) -> Tool | None:
    """The tool with exactly this name (F24: no other case, no look-alikes)."""
    return _tools.get(name)


def all_tools() -> list[Tool]:
    """Every registered tool, by name."""
    return sorted(_tools.values(), key=lambda each: each.name)


def tools_of(names: Iterable[str]) -> list[Tool]:
    """The registered tools among these names, in their order."""
    return [_tools[name] for name in names if name in _tools]
