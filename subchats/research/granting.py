"""What a grant of a source must fulfil, no matter where it is set up (A-36, S09)."""

from collections.abc import Iterable

from assistants.errors import CodedError
from subchats.models import DatasourceGrant

from .datasources import find_datasource


def grant_problems(grant: DatasourceGrant) -> Iterable[CodedError]:
    """It is for a research assistant of its own team, and names tags and scopes that its source has."""
    if grant.assistant.tenant_id != grant.tenant_id:
        yield _problem("GRANT_FOREIGN", "assistant", "This belongs to another team.", "Choose one of this team's own.")
    elif not grant.assistant.research:
        yield _problem(
            "GRANT_NO_RESEARCH", "assistant", "Only a research looks through it.", "Choose an assistant set to research."
        )
    source = find_datasource(grant.source)
    if source is None:
        yield _problem("SOURCE_UNKNOWN", "source", f"There is no source “{grant.source}”.", "Choose one that there is.")
        return
    if strange := [each for each in map(str, grant.tags) if each not in source.tags]:
        yield _problem("TAG_UNKNOWN", "tags", f"It has no tag {', '.join(strange)}.", f"Tags: {', '.join(source.tags)}.")
    known = source.scopes(grant.tenant)
    if lost := [each for each in map(str, grant.scopes) if each not in known]:
        fix = f"Scopes: {', '.join(known)}." if known else "Leave it empty."
        yield _problem("SCOPE_UNKNOWN", "scopes", f"It has no scope {', '.join(lost)}.", fix)


def _problem(code: str, field: str, message: str, fix: str) -> CodedError:
    return CodedError(code=code, field=field, message=message, fix=fix)
