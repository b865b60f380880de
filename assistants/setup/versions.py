"""Every state that an assistant was in, and the way back to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from assistants import access
from assistants.errors import CodedError
from assistants.models import Assistant, AssistantVersion, Domain, LLMProfile, User

from .rules import check_assistant

PLAIN = (
    *("slug", "name", "avatar", "description", "instructions", "tools", "approve_tools"),
    *("public", "may_ask", "starters", "max_steps", "enabled"),
    *("plan_gate", "plan_approval", "research", "turn_tokens", "idle_seconds", "wall_seconds"),
)


@dataclass(frozen=True)
class Restored:
    """The version that a restore made (none if nothing differed), and the names that no longer exist."""

    version: AssistantVersion | None
    left_out: tuple[str, ...]


def describe(assistant: Assistant) -> dict[str, Any]:
    """The whole definition as JSON; profile, domain and delegates by name, so that a person can read it later."""
    plain = {field: getattr(assistant, field) for field in PLAIN}
    return {
        **plain,
        "profile": assistant.profile.name if assistant.profile else "",
        "domain": assistant.domain.slug if assistant.domain else "",
        "delegates": sorted(assistant.delegates.values_list("slug", flat=True)),
    }


@transaction.atomic
def save_assistant(assistant: Assistant, *, delegates: Iterable[Assistant], by: User | None) -> AssistantVersion | None:
    """Saves an assistant that keeps the rules, with its list of delegates and its version. Raises the first problem."""
    chosen = list(delegates)
    check_assistant(assistant, delegates=chosen)
    if assistant.pk:
        keep_former(assistant.pk)
    assistant.save()
    assistant.delegates.set(chosen)
    return keep_version(assistant, by=by)


@transaction.atomic
def keep_version(assistant: Assistant, *, by: User | None) -> AssistantVersion | None:
    """Stores the assistant as it is now, unless its newest version already says the same."""
    row = Assistant.objects.select_for_update().get(pk=assistant.pk)
    newest, made, definition = row.versions.first(), None, describe(row)
    if newest is None or newest.definition != definition:
        number = newest.number + 1 if newest else 1
        newest = made = AssistantVersion.objects.create(assistant=row, number=number, definition=definition, changed_by=by)
    # Whoever saved the row may have held it from before the newest version.
    Assistant.objects.filter(pk=row.pk).update(version=newest.number)
    assistant.version = newest.number
    return made


def keep_former(assistant_id: int) -> None:
    """Stores the first version of an assistant that was made by a script, before somebody changes it."""
    former = Assistant.objects.get(pk=assistant_id)
    if not former.versions.exists():
        keep_version(former, by=None)


@transaction.atomic
def restore_version(version: AssistantVersion, *, by: User) -> Restored:
    """Makes the assistant what it was, as a new version; nothing of the history is lost.

    What a name stood for may be gone: it is left out and reported. Raises a CodedError, changing nothing, when the old
    definition breaks a rule by now or its slug is taken.
    """
    assistant = Assistant.objects.select_for_update().get(pk=version.assistant_id)
    wanted = version.definition
    for field in PLAIN:
        setattr(assistant, field, wanted.get(field, getattr(assistant, field)))
    profile, domain, named = wanted.get("profile", ""), wanted.get("domain", ""), wanted.get("delegates", [])
    team = assistant.tenant_id
    assistant.profile = LLMProfile.objects.filter(tenant_id=team, name=profile).first()
    assistant.domain = Domain.objects.filter(tenant_id=team, slug=domain).first()
    delegates = list(Assistant.objects.filter(tenant_id=team, slug__in=named))
    left_out = set(named) - {each.slug for each in delegates}
    left_out |= {profile} if profile and assistant.profile is None else set()
    left_out |= {domain} if domain and assistant.domain is None else set()
    _check_slug(assistant)
    made = save_assistant(assistant, delegates=delegates, by=by)
    access.audit(
        "assistant.restored",
        tenant_id=assistant.tenant_id,
        user=by,
        target=f"assistant {assistant.pk}",
        version=version.number,
        left_out=sorted(left_out),
    )
    return Restored(version=made, left_out=tuple(sorted(left_out)))


def _check_slug(assistant: Assistant) -> None:
    try:
        assistant.validate_constraints()
    except ValidationError:
        raise CodedError(
            code="SLUG_TAKEN",
            field="slug",
            message=f"Another assistant is called “{assistant.slug}” by now.",
            fix="Rename that one first.",
        ) from None
