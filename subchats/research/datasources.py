"""Sources besides documents, behind one door: what was not granted is not found, whatever the model asks for (A-36)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistants.documents.merge import Hit
from assistants.errors import CodedError
from assistants.models import Tenant, Thread, User
from subchats.models import DatasourceGrant

METHOD = "datasource"
TOP_K, MOST_TOP_K = 20, 50
_SIGNS = frozenset("#:/")


@dataclass(frozen=True)
class Reach:
    """Whose rights count, from which conversation is asked, and what the admin has granted; no scope means every one."""

    asker: User
    thread: Thread
    tags: frozenset[str]
    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Record:
    """Something that a source holds. `key` is its name there; one tag and, where scopes are granted, one scope must fit."""

    key: str
    title: str
    place: str
    text: str
    score: float
    tags: frozenset[str]
    scopes: frozenset[str]


class Datasource(Protocol):
    """What can be searched. `tags` are the kinds of its records, each with words for an admin."""

    name: str
    tags: dict[str, str]

    def scopes(self, tenant: Tenant) -> list[str]:
        """The parts of it that a grant may be narrowed to."""
        ...

    def search(self, reach: Reach, query: str, limit: int) -> Sequence[Record]:
        """What may hold an answer, the best first. Looks with the asker's own rights."""
        ...

    def text_of(self, reach: Reach, key: str) -> Record | None:
        """One record whole, under the same rights."""
        ...

    def address(self, key: str) -> str:
        """The page that shows it, which asks for its reader's own rights; empty if there is none."""
        ...


_sources: dict[str, Datasource] = {}


def register_datasource(source: Datasource) -> None:
    """Adds a source, or replaces the one of that name. Its name holds none of `#`, `:` and `/`."""
    if not source.name or _SIGNS & set(source.name):
        raise ValueError(f"A source can't be named {source.name!r}.")
    _sources[source.name] = source


def datasources() -> list[Datasource]:
    """Every source there is, by name."""
    return [_sources[name] for name in sorted(_sources)]


def find_datasource(name: str) -> Datasource | None:
    """The source with exactly this name."""
    return _sources.get(name)


def reaches(thread: Thread) -> dict[str, Reach]:
    """What the assistant of this conversation may search now, by source; asked afresh at every call.

    Only grants with a tag count. An ad-hoc agent and a visitor have none.
    """
    if thread.owner is None or thread.agent or thread.assistant_id is None:
        return {}
    grants = DatasourceGrant.objects.filter(assistant=thread.assistant_id, tenant=thread.tenant_id)
    return {
        grant.source: Reach(thread.owner, thread, frozenset(map(str, grant.tags)), frozenset(map(str, grant.scopes)))
        for grant in grants
        if grant.tags and grant.source in _sources
    }


def search_datasources(thread: Thread, query: str, *, top_k: int = TOP_K, scope: str = "") -> list[Hit]:
    """What the granted sources hold, the best first. `scope` only narrows: one that is not granted finds nothing.

    Whatever a source gives is held against the grant once more, before anything is merged.
    """
    hits = []
    for name, reach in sorted(reaches(thread).items()):
        narrowed = _narrowed(reach, scope)
        if narrowed is None:
            continue
        for record in _sources[name].search(narrowed, query, top_k):
            if permits(narrowed, record):
                hits.append(Hit(source_name(name, record.key), record.place, record.text, record.score, METHOD, record.title))
    return sorted(hits, key=lambda hit: (-hit.score, hit.source, hit.place))[:top_k]


def datasource_hits(thread: Thread, query: str, limit: int) -> list[Hit]:
    """The same as a method among the others (A-37). Raises `DATASOURCE_OFF` where nothing is granted."""
    if not reaches(thread):
        raise CodedError(
            code="DATASOURCE_OFF",
            message="No other source is open to this assistant.",
            fix="An administrator can grant one.",
            correctable=False,
        )
    return search_datasources(thread, query, top_k=min(limit, TOP_K))


def permits(reach: Reach, record: Record) -> bool:
    """Whether the grant covers the record. One whose name holds a `#` could be taken for a part of another: never."""
    if "#" in record.key or not reach.tags & record.tags:
        return False
    return not reach.scopes or bool(reach.scopes & record.scopes)


def look_up(thread: Thread, source: str) -> Record | None:
    """The record of this name, whole, if it is granted and the asker may read it; None for anything else."""
    name, colon, key = source.partition(":")
    reach = reaches(thread).get(name) if colon else None
    record = _sources[name].text_of(reach, key) if reach else None
    return record if reach and record and permits(reach, record) else None


def address_of(source: str) -> str:
    """The page of a record by its name; empty for a document, and for a source that has no pages."""
    name, colon, key = source.partition(":")
    known = _sources.get(name) if colon else None
    return known.address(key) if known else ""


def source_name(name: str, key: str) -> str:
    """What a record is called towards people and models. No document is called so: its name would hold a slash."""
    return f"{name}:{key}"


def _narrowed(reach: Reach, scope: str) -> Reach | None:
    wanted = scope.strip()
    if not wanted:
        return reach
    if reach.scopes and wanted not in reach.scopes:
        return None
    return Reach(reach.asker, reach.thread, reach.tags, frozenset({wanted}))
