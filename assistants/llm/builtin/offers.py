"""The tools on offer for a reply, the assistants that can be delegated to, and arguments that fit their schemas."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.tools import ToolDefinition

_DELEGATE_LINE = re.compile(r"^\s*[-*]\s+`?([\w-]+)`?:\s*(.*?)(?:\s+—\s+(.*))?$", re.MULTILINE)
_UNFIT = object()
_PLAIN: dict[str, tuple[type, ...]] = {"boolean": (bool,), "null": (type(None),), "number": (int, float)}


@dataclass(frozen=True)
class Delegate:
    """An assistant that may be invoked."""

    slug: str
    name: str
    description: str


@dataclass(frozen=True)
class Offers:
    """What may be called now."""

    tools: Mapping[str, ToolDefinition]
    delegates: tuple[Delegate, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.tools

    def fit(self, name: str, **arguments: Any) -> dict[str, Any] | None:
        """The arguments as the tool's schema takes them: unknown ones dropped, long ones cut. None: can't be called."""
        if name not in self.tools:
            return None
        schema = self.tools[name].parameters_json_schema
        fitted = _fit(schema, arguments, schema.get("$defs", {}))
        return None if fitted is _UNFIT else fitted

    def properties(self, name: str) -> Mapping[str, Any]:
        """The tool's own argument schemas by name, empty for a tool that is not offered."""
        return self.tools[name].parameters_json_schema.get("properties", {}) if name in self.tools else {}


def read_offers(tools: Iterable[ToolDefinition]) -> Offers:
    """Reads the definitions; the delegates stand in the schema and the description of `invoke_assistant`."""
    by_name = {tool.name: tool for tool in tools}
    invoke = by_name.get("invoke_assistant")
    return Offers(tools=by_name, delegates=_delegates(invoke) if invoke else ())


def _delegates(tool: ToolDefinition) -> tuple[Delegate, ...]:
    schema = tool.parameters_json_schema
    field = schema.get("properties", {}).get("assistant", {})
    told = {found[1]: (found[2], found[3] or "") for found in _DELEGATE_LINE.finditer(tool.description or "")}
    slugs = _choices(field, schema.get("$defs", {})) or list(told)
    return tuple(Delegate(slug, *told.get(slug, (slug.replace("-", " ").replace("_", " ").capitalize(), ""))) for slug in slugs)


def _choices(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    schema = _resolve(schema, definitions)
    if "const" in schema:
        return [schema["const"]]
    nested = [choice for each in schema.get("anyOf", ()) for choice in _choices(each, definitions)]
    return [each for each in schema.get("enum", nested) if isinstance(each, str)]


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return definitions.get(name, schema) if name else schema


def _fit(schema: Mapping[str, Any], value: Any, definitions: Mapping[str, Any]) -> Any:
    schema = _resolve(schema, definitions)
    if "anyOf" in schema:
        return next((fit for each in schema["anyOf"] if (fit := _fit(each, value, definitions)) is not _UNFIT), _UNFIT)
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return _UNFIT
    fitters = {"object": _fit_object, "array": _fit_array, "string": _fit_string, "integer": _fit_number}
    fitter = fitters.get(schema.get("type", "object" if "properties" in schema else ""))
    if fitter:
        return fitter(schema, value, definitions)
    kinds = _PLAIN.get(schema.get("type", ""), (object,))
    is_flag = isinstance(value, bool) and bool not in kinds and object not in kinds
    return value if isinstance(value, kinds) and not is_flag else _UNFIT


def _fit_object(schema: Mapping[str, Any], value: Any, definitions: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping):
        return _UNFIT
    properties = schema.get("properties", {})
    fitted = {
        name: fit
        for name, each in value.items()
        if name in properties and (fit := _fit(properties[name], each, definitions)) is not _UNFIT
    }
    return fitted if all(name in fitted for name in schema.get("required", ())) else _UNFIT


def _fit_array(schema: Mapping[str, Any], value: Any, definitions: Mapping[str, Any]) -> Any:
    if not isinstance(value, (list, tuple)):
        return _UNFIT
    items = [fit for each in value if (fit := _fit(schema.get("items", {}), each, definitions)) is not _UNFIT]
    items = items[: schema.get("maxItems")]
    return _UNFIT if len(items) < schema.get("minItems", 0) else items


def _fit_string(schema: Mapping[str, Any], value: Any, _: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or len(value) < schema.get("minLength", 0):
        return _UNFIT
    limit = schema.get("maxLength")
    if limit is None or len(value) <= limit:
        return value
    return value[: max(limit - 1, 0)].rstrip() + "…" if limit else _UNFIT


def _fit_number(schema: Mapping[str, Any], value: Any, _: Mapping[str, Any]) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return _UNFIT
    at_most = min(value, schema.get("maximum", value))
    return max(at_most, schema.get("minimum", at_most))
