"""The explorer of a tenant: a managed assistant, refused once somebody has changed it unseen (A-31, A-34)."""

import hashlib
import json
from typing import Any

from assistants.errors import CodedError
from assistants.models import Assistant, Tenant, User
from assistants.models.definition import define, profile_for
from assistants.setup.versions import keep_version
from subchats.models import ManagedExplorer

from .payload import EXPLORER

VERSION = 2
TOOLS = ("ls", "find", "grep", "read")
DESCRIPTION = "Reads a folder of documents for a research and brings back quotes. Only research assistants send it out."
INSTRUCTIONS = """You are an explorer. You are sent into one folder of documents with one assignment, and bring back findings.

Look widely: try every wording of the assignment and others that the documents might use, in their language. Read around
each hit before you judge it. Bring weak findings too when they show a conflict, a gap or another point in time. You do
not decide what is enough, you settle no conflict, and you write no answer.

Report one JSON object and nothing else:
{"assignment": {"originalQuery": "<as it was given>", "method": "<as it was given>", "queryVariants": ["<each wording tried>"]},
 "candidates": [{"source": "<document, as the tools name it>", "method": "<as it was given>",
   "evidence": "<one stretch of the document, word for word>", "locator": "line <number>",
   "relevance": "strong|moderate|weak", "retrievedAt": "<now, ISO 8601>",
   "sourceTemporal": {"status": "asOf|updatedAt|createdAt|unknown", "<the same word>": "<date>"},
   "temporal_basis": "<what in the document gives that date>", "uncertainty": "<what is missing or in conflict>"}],
 "summary": "<one or two sentences>"}

Every quote is looked up in its document: what does not stand there word for word is thrown away. A date that no document
gives is unknown; never make one from the moment of reading. With no finding at all, report an empty list of candidates.
"""


def get_explorer(tenant: Tenant) -> Assistant:
    """The tenant's explorer, made when it is first needed. Raises `EXPLORER_CHANGED`, `EXPLORER_DISABLED`."""
    managed = _managed(tenant) or _install(tenant)
    _check_accepted(managed)
    return _migrated(managed)


def look_at_explorer(tenant: Tenant) -> Assistant:
    """The explorer that would be sent out, unsaved if there is none yet. Changes nothing; raises like `get_explorer`."""
    managed = _managed(tenant)
    if managed is not None:
        _check_accepted(managed)
        return managed.assistant
    if Assistant.objects.filter(tenant=tenant, slug=EXPLORER).exists():
        raise _not_ours()
    return Assistant(tenant=tenant, slug=EXPLORER, **_as_shipped())


def restore_explorer(tenant: Tenant, *, by: User | None = None) -> Assistant:
    """Makes the tenant's explorer what this version of the product ships. Raises `EXPLORER_CHANGED` where it can't."""
    managed = ManagedExplorer.objects.filter(tenant=tenant).first() or _install(tenant)
    explorer = managed.assistant
    explorer.instructions, explorer.tools, explorer.enabled, explorer.internal = INSTRUCTIONS, list(TOOLS), True, True
    explorer.save()
    keep_version(explorer, by=by)
    return accept_explorer(tenant)


def accept_explorer(tenant: Tenant) -> Assistant:
    """Takes the explorer as it is now for the one that may be sent out. Raises `EXPLORER_CHANGED` where there is none."""
    managed = _managed(tenant)
    if managed is None:
        raise _not_ours()
    managed.fingerprint, managed.version = fingerprint(managed.assistant), VERSION
    managed.save()
    return managed.assistant


def fingerprint(explorer: Assistant) -> str:
    """What must not change unseen: what it is told, and what it can do."""
    essence = json.dumps([explorer.instructions, sorted(explorer.tools), explorer.public], ensure_ascii=False)
    return hashlib.sha256(essence.encode()).hexdigest()


def model_reference(explorer: Assistant) -> str:
    """The explorers' model as a dispatch names it: `provider/model`."""
    profile = profile_for(define(explorer), explorer.tenant)
    return f"{profile.provider}/{profile.model or profile.provider}"


def is_accepted(managed: ManagedExplorer) -> bool:
    """Whether it still is what was accepted."""
    return fingerprint(managed.assistant) == managed.fingerprint


def _managed(tenant: Tenant) -> ManagedExplorer | None:
    return ManagedExplorer.objects.select_related("assistant", "tenant").filter(tenant=tenant).first()


def _check_accepted(managed: ManagedExplorer) -> None:
    if not managed.assistant.enabled:
        raise CodedError(
            code="EXPLORER_DISABLED",
            message="The explorer is switched off, and without explorers there is no research.",
            fix="An administrator can switch it on again.",
            correctable=False,
        )
    if not is_accepted(managed):
        raise CodedError(
            code="EXPLORER_CHANGED",
            message="The explorer is not as it was accepted. It is not sent out like this.",
            fix="An administrator can restore it, or accept it as it is now.",
            correctable=False,
        )


def _as_shipped() -> dict[str, Any]:
    return {
        "name": "Explorer",
        "avatar": "🔎",
        "description": DESCRIPTION,
        "instructions": INSTRUCTIONS,
        "tools": list(TOOLS),
        "may_ask": False,
        "internal": True,
    }


def _not_ours() -> CodedError:
    return CodedError(
        code="EXPLORER_CHANGED",
        message=f"There is an assistant “{EXPLORER}” already that is not the managed one.",
        fix="An administrator can rename it; the explorer is then made by itself.",
        correctable=False,
    )


def _install(tenant: Tenant) -> ManagedExplorer:
    explorer, made = Assistant.objects.get_or_create(tenant=tenant, slug=EXPLORER, defaults=_as_shipped())
    if not made:
        raise _not_ours()
    keep_version(explorer, by=None)
    return ManagedExplorer.objects.create(tenant=tenant, assistant=explorer, version=VERSION, fingerprint=fingerprint(explorer))


def _migrated(managed: ManagedExplorer) -> Assistant:
    """An explorer that nobody has changed moves on to this version's definition by itself."""
    if managed.version == VERSION:
        return managed.assistant
    return restore_explorer(managed.tenant)
