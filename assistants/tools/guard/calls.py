"""The guard in front of a tool: reads the arguments before the body runs."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assistants.errors import NotAllowed

from .leaves import dump, leaves_of, unfold
from .readings import SEPARATOR
from .ruleset import for_arguments
from .search import Finding, Search, poisoned

if TYPE_CHECKING:
    from assistants.tools.registry import Tool


@dataclass(eq=False)
class GuardBlocked(NotAllowed):
    """A call whose arguments the guard did not let through; `finding` names the argument, never repeats its text."""

    finding: Finding | None = None


def check_call(tool: "Tool", arguments: dict[str, Any]) -> None:
    """Looks for attacks in the arguments, as they were sent. Raises `GUARD_BLOCKED` (decision 11).

    Free text (`tool.free_text`) goes to a person, a search or another assistant, not to a database, shell or network:
    it is not looked at for SQL, shell and SSRF, but for everything else like any other argument. Each argument's strings
    are read, then the arguments as raw JSON, which shows what is spread over several strings. For the families that
    spare free text, the raw JSON is that of the other arguments alone; otherwise it would bring back what was spared.
    """
    strict, lenient = for_arguments(prose=False), for_arguments(prose=True)
    for name, value in arguments.items():
        search = lenient if name in tool.free_text else strict
        if finding := _in_value(name, value, search):
            raise _blocked(tool, finding)
    others = {name: value for name, value in arguments.items() if name not in tool.free_text}
    for part, search in ((arguments, _without_keys(lenient)), (others, _without_keys(strict))):
        if finding := search.seek(dump(part)):
            raise _blocked(tool, replace(finding, where=""))


def _in_value(name: str, value: Any, search: Search) -> Finding | None:
    leaves = [leaf for leaf in leaves_of(value, ((), name)) if leaf.text.strip()]
    texts = [unfold(leaf.text) for leaf in leaves]
    if search.seek(SEPARATOR.join(texts)) is None:
        return None
    for place in poisoned(texts, search.seek, most=1):
        if finding := search.seek(texts[place]):
            return replace(finding, where=leaves[place].where)
    return None


def _without_keys(search: Search) -> Search:
    """The keys of checked arguments are the tool's own words: a parameter may be named `prompt` (J-31)."""
    return Search(tuple(rule for rule in search.rules if not rule.name.startswith("JSON role")), search.risk)


def _blocked(tool: "Tool", finding: Finding) -> GuardBlocked:
    place = f"{tool.name}.{finding.where}" if finding.where else tool.name
    return GuardBlocked(
        code="GUARD_BLOCKED",
        field=place,
        message=f"{place} was not let through: it looks like {finding.family} ({finding.pattern}). {tool.name} was not called.",
        fix="Say it in plain words, or leave that part out.",
        finding=finding,
    )
