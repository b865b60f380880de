"""What a step of a plan must fulfil before anything is recorded (J-05 to J-09)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistants import access
from assistants.errors import CodedError
from assistants.models import Assistant, Domain, Thread
from assistants.models.definition import Definition
from assistants.tools.registry import tools_of
from subchats.delegation.limits import depth_of, may_go_deeper
from subchats.delegation.roster import delegates_of

from .wording import says_nothing

MAX_STEPS, MAX_CHARS = 12, 500


@dataclass(frozen=True)
class Draft:
    """A step as somebody wrote it: `specialist` and `domain` are short names, or empty."""

    description: str
    check: str
    specialist: str = ""
    domain: str = ""


@dataclass(frozen=True)
class Step:
    """A step that keeps the rules. Without a specialist and a domain the planning assistant does it itself (J-06)."""

    description: str
    check: str
    specialist: Assistant | None
    domain: Domain | None


def may_plan(definition: Definition, thread: Thread) -> bool:
    """Whether delegation is possible for whoever answers here: only then is a plan of any use (J-01)."""
    if definition.public or not thread.owner_id or not may_go_deeper(thread):
        return False
    delegating = [tool for tool in tools_of(definition.tools) if tool.delegates]
    return any(tool.define(definition, thread) is not None for tool in delegating)


def check_steps(drafts: Sequence[Draft], *, thread: Thread, definition: Definition) -> list[Step]:
    """Every step, resolved; all or nothing (J-09).

    Raises `STEP_BLANK`, `STEP_TOO_LONG`, `CHECK_TRIVIAL`, `SPECIALIST_UNKNOWN`, `DOMAIN_UNKNOWN`, `DOMAIN_MISMATCH`,
    `FOREIGN_DOMAIN`, each with the step's place in `field`, counted from 1.
    """
    own = definition.domain_id if depth_of(thread) else None
    steps = [_check(draft, f"steps.{place}", thread, own) for place, draft in enumerate(drafts, 1)]
    # Whoever names itself means to do the step itself.
    return [replace(step, specialist=None) if _is(step.specialist, definition) else step for step in steps]


def specialists_for(definition: Definition, thread: Thread) -> list[Assistant]:
    """Whom a plan made here can name: those that may be called, in a supervisor's sub-chat only its own domain's."""
    own = definition.domain_id if depth_of(thread) else None
    return [each for each in delegates_of(definition, thread) if own is None or each.domain_id in (None, own)]


def _is(specialist: Assistant | None, definition: Definition) -> bool:
    return specialist is not None and specialist.pk == definition.assistant_id


def _check(draft: Draft, field: str, thread: Thread, own: int | None) -> Step:
    description, check = " ".join(draft.description.split()), " ".join(draft.check.split())
    for name, text in (("description", description), ("check", check)):
        if not text:
            raise CodedError(
                code="STEP_BLANK",
                field=f"{field}.{name}",
                message=f"A step needs a {name}. Nothing was recorded.",
                fix=f"Give this step a {name}, then send the plan again.",
            )
        if len(text) > MAX_CHARS:
            raise CodedError(
                code="STEP_TOO_LONG",
                field=f"{field}.{name}",
                message=f"The {name} of a step has at most {MAX_CHARS} characters. Nothing was recorded.",
                fix="Shorten it, then send the plan again.",
            )
    if says_nothing(check, description=description):
        raise CodedError(
            code="CHECK_TRIVIAL",
            field=f"{field}.check",
            message=f"“{check[:80]}” says that the work is done and names nothing that one could see. Nothing was recorded.",
            fix="Name an observable result, such as “one row per article with four numbers”, then send the plan again.",
        )
    specialist = _specialist(draft.specialist.strip(), f"{field}.specialist", thread)
    domain = _domain(draft.domain.strip(), f"{field}.domain", thread)
    if specialist and domain and specialist.domain_id != domain.pk:
        raise _mismatch(specialist, domain, f"{field}.domain")
    domain = domain or (specialist.domain if specialist else None)
    if own is not None and domain and domain.pk != own:
        raise _foreign(draft, domain, field)
    return Step(description, check, specialist, domain)


def _specialist(slug: str, field: str, thread: Thread) -> Assistant | None:
    """The team's assistant of this name. A stranger's, a disabled and an invented one get the same words (S27)."""
    if not slug:
        return None
    team = Assistant.objects.enabled().filter(tenant_id=thread.tenant_id, public=False).select_related("domain")
    found = team.filter(slug=slug).first()
    if found is None or thread.owner is None or not access.may(thread.owner, "use", found):
        raise CodedError(
            code="SPECIALIST_UNKNOWN",
            field=field,
            message=f"There is no assistant “{slug[:80]}”. Nothing was recorded.",
            fix="Name an assistant exactly as it is listed, or leave the specialist out and do the step yourself.",
        )
    return found


def _domain(slug: str, field: str, thread: Thread) -> Domain | None:
    if not slug:
        return None
    found = Domain.objects.filter(tenant_id=thread.tenant_id, slug=slug).first()
    if found is None:
        names = ", ".join(Domain.objects.filter(tenant_id=thread.tenant_id).order_by("slug").values_list("slug", flat=True))
        raise CodedError(
            code="DOMAIN_UNKNOWN",
            field=field,
            message=f"There is no domain “{slug[:80]}”. The domains: {names or 'none'}. Nothing was recorded.",
            fix="Name a domain exactly as listed, or leave it out: it follows from the specialist.",
        )
    return found


def _mismatch(specialist: Assistant, domain: Domain, field: str) -> CodedError:
    home = f"to the domain “{specialist.domain.slug}”" if specialist.domain else "to no domain"
    return CodedError(
        code="DOMAIN_MISMATCH",
        field=field,
        message=f"“{specialist.slug}” belongs {home}, not to “{domain.slug}”. Nothing was recorded.",
        fix="Leave the domain out, or name a specialist of that domain.",
    )


def _foreign(draft: Draft, domain: Domain, field: str) -> CodedError:
    whom = f"“{draft.specialist.strip()}” belongs" if draft.specialist.strip() else "The step belongs"
    return CodedError(
        code="FOREIGN_DOMAIN",
        field=f"{field}.specialist" if draft.specialist.strip() else f"{field}.domain",
        message=f"{whom} to the domain “{domain.slug}”, not to yours. Hand that step back to the root. Nothing was recorded.",
        fix="Leave the step out and give it back with hand_back, naming what is needed and what you have established.",
    )
