"""Which rules look at what: the arguments of a call, words handed to another assistant, a result by its tool's risk."""

from functools import cache

from .families import addresses, code, commands, demands, hidden, overrides, paths, persuasion, roles, sql
from .rules import Family, Risk, Rule
from .search import Search

ALL: tuple[Rule, ...] = (
    *sql.RULES,
    *code.RULES,
    *paths.RULES,
    *commands.RULES,
    *addresses.RULES,
    *overrides.RULES,
    *demands.RULES,
    *roles.RULES,
    *hidden.RULES,
    *persuasion.RULES,
)
# Decision 11: prose may talk about these.
NOT_IN_PROSE = frozenset({Family.SQL, Family.COMMAND, Family.ADDRESS})
OF_RESULTS = frozenset({Family.INJECTION})


@cache
def for_results(risk: Risk) -> Search:
    """What is looked for in a result: orders to its reader."""
    return _search(OF_RESULTS, risk)


@cache
def for_arguments(*, prose: bool) -> Search:
    """What is looked for in an argument; `prose` is free text for a person or another assistant."""
    return _search(frozenset(Family) - (NOT_IN_PROSE if prose else frozenset()), Risk.MEDIUM)


def _search(families: frozenset[Family], risk: Risk) -> Search:
    return Search(tuple(rule for rule in ALL if rule.family in families and rule.risk <= risk), risk)
