"""What an assistant, a domain, a tenant and a folder must fulfil, no matter where they are set up."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from django.conf import settings

from assistants.errors import CodedError
from assistants.models import Assistant, Budget, Domain, Membership, Tenant
from assistants.tools.registry import find_tool

Rule = Callable[[Assistant], Iterable[CodedError]]
_more: list[Rule] = []


def add_rule(rule: Rule) -> None:
    """Adds what an upper app requires of an assistant; it tells what is wrong with one in its own system check."""
    if rule not in _more:
        _more.append(rule)


def assistant_problems(assistant: Assistant, *, delegates: Iterable[Assistant]) -> list[CodedError]:
    """Every rule that this assistant would break with these delegates (decision 10, T-03, S09).

    The edit form, a restored version and the system check all ask here. The assistant may be unsaved, and `delegates`
    stands for what its list is to become. Each problem names the field at fault.
    """
    chosen = list(delegates)
    return [
        *_tool_problems(assistant),
        *_border_problems(assistant, chosen),
        *_delegate_problems(assistant, chosen),
        *_duty_problems(assistant),
        *_step_problems(assistant),
        *_limit_problems(assistant),
        *(problem for rule in _more for problem in rule(assistant)),
    ]


def check_assistant(assistant: Assistant, *, delegates: Iterable[Assistant]) -> None:
    """Raises the first of the assistant's problems."""
    for problem in assistant_problems(assistant, delegates=delegates):
        raise problem


def domain_problems(domain: Domain) -> list[CodedError]:
    """A domain is led by one of its own assistants."""
    supervisor = domain.supervisor
    if supervisor is None:
        return []
    if supervisor.tenant_id != domain.tenant_id:
        return [_foreign("supervisor", "SUPERVISOR_FOREIGN")]
    if supervisor.domain_id != domain.pk or domain.pk is None:
        return [
            CodedError(
                code="SUPERVISOR_OUTSIDE",
                field="supervisor",
                message=f"“{supervisor}” does not belong to this domain.",
                fix="Put the assistant into the domain first, then let it lead the domain.",
            )
        ]
    return []


def tenant_problems(tenant: Tenant) -> list[CodedError]:
    """A tenant's default model is one of its own profiles."""
    profile = tenant.default_profile
    if profile is not None and profile.tenant_id != tenant.pk:
        return [_foreign("default_profile", "PROFILE_FOREIGN")]
    return []


def budget_problems(budget: Budget) -> Iterable[CodedError]:
    """A budget is for exactly the one that its scope names, who belongs to the team, and limits something."""
    targets = {"user": budget.user_id, "group": budget.group_id, "assistant": budget.assistant_id}
    for name, target in targets.items():
        if (name == budget.scope) != (target is not None):
            yield CodedError(
                code="BUDGET_TARGET",
                field=name,
                message="The scope and who it is for do not go together.",
                fix="Choose whom the scope names, and nobody else." if name == budget.scope else "Leave this empty.",
            )
    if budget.assistant and budget.assistant.tenant_id != budget.tenant_id:
        yield _foreign("assistant", "BUDGET_FOREIGN")
    members = Membership.objects.filter(tenant=budget.tenant_id)
    if budget.user_id and not members.filter(user=budget.user_id).exists():
        yield _foreign("user", "BUDGET_FOREIGN")
    if budget.group_id and not members.filter(user__groups=budget.group_id).exists():
        yield _foreign("group", "BUDGET_FOREIGN")
    if budget.soft is None and budget.hard is None:
        yield CodedError(
            code="BUDGET_EMPTY", field="hard", message="Nothing is limited.", fix="Enter a soft limit, a hard one, or both."
        )
    elif budget.soft is not None and budget.hard is not None and budget.soft > budget.hard:
        yield CodedError(
            code="BUDGET_SOFT",
            field="soft",
            message="The notice would come after the pause.",
            fix="Enter a soft limit below the hard one.",
        )


def folder_problems(path: str) -> list[CodedError]:
    """A folder of documents exists on this server, and neither holds the server's own data nor lies among them (S33, S34):
    there stands what other folders hold, whoever may read those."""
    folder = Path(path)
    if not folder.is_absolute():
        return [_bad_folder("FOLDER_RELATIVE", "The path has to start at the root of the server's file system.")]
    if not os.path.isdir(folder):
        return [_bad_folder("FOLDER_MISSING", "There is no such folder on this server.")]
    home, real = Path(settings.HOME).resolve(), folder.resolve()
    if home.is_relative_to(real):
        return [_bad_folder("FOLDER_HOLDS_SECRETS", "This folder holds the site's own database and secret key.")]
    if real.is_relative_to(home):
        return [_bad_folder("FOLDER_OF_THE_SITE", "This folder is one of the site's own data.")]
    return []


def _tool_problems(assistant: Assistant) -> Iterable[CodedError]:
    for name in assistant.tools:
        tool = find_tool(name) if isinstance(name, str) else None
        if tool is None:
            yield CodedError(
                code="TOOL_UNKNOWN",
                field="tools",
                message=f"There is no tool “{str(name)[:80]}” on this site.",
                fix="Take it off the list, or install what brings it.",
            )
        elif tool.delegates and assistant.public:
            yield CodedError(
                code="PUBLIC_DELEGATES",
                field="tools",
                message=f"A public assistant can't have {name}: visitors would set other assistants to work.",
                fix="Take the tool away, or don't make the assistant public.",
            )


def _border_problems(assistant: Assistant, delegates: Sequence[Assistant]) -> Iterable[CodedError]:
    if assistant.profile and assistant.profile.tenant_id != assistant.tenant_id:
        yield _foreign("profile", "PROFILE_FOREIGN")
    if assistant.domain and assistant.domain.tenant_id != assistant.tenant_id:
        yield _foreign("domain", "DOMAIN_FOREIGN")
    if any(each.tenant_id != assistant.tenant_id for each in delegates):
        yield _foreign("delegates", "DELEGATE_FOREIGN")


def _delegate_problems(assistant: Assistant, delegates: Sequence[Assistant]) -> Iterable[CodedError]:
    if any(each.pk == assistant.pk for each in delegates):
        yield CodedError(
            code="DELEGATE_SELF",
            field="delegates",
            message="An assistant can't hand work to itself.",
            fix="Take it off its own list.",
        )
    for each in delegates:
        if each.public:
            yield CodedError(
                code="DELEGATE_PUBLIC",
                field="delegates",
                message=f"“{each}” is there for visitors and can't be handed work.",
                fix="Choose another assistant, or make that one not public.",
            )
    if path := _cycle(assistant, delegates):
        yield CodedError(
            code="DELEGATE_CYCLE",
            field="delegates",
            message=f"Work would go round in a circle: {' → '.join(path)}.",
            fix="Take one of them off one of the lists.",
        )


def _cycle(assistant: Assistant, delegates: Sequence[Assistant]) -> list[str]:
    """The slugs on a way from the assistant back to itself by the lists of delegates, or nothing."""
    if assistant.pk is None:
        return []
    rows = Assistant.delegates.through.objects.filter(from_assistant__tenant_id=assistant.tenant_id)
    lists: dict[int, set[int]] = {}
    for giver, taker in rows.values_list("from_assistant_id", "to_assistant_id"):
        lists.setdefault(giver, set()).add(taker)
    lists[assistant.pk] = {each.pk for each in delegates} - {assistant.pk}
    came_from: dict[int, int] = {}
    edge = [assistant.pk]
    while edge:
        giver = edge.pop()
        for taker in lists.get(giver, ()):
            if taker == assistant.pk:
                return _slugs([*_way(giver, came_from), taker])
            if taker not in came_from:
                came_from[taker] = giver
                edge.append(taker)
    return []


def _way(end: int, came_from: dict[int, int]) -> list[int]:
    way = [end]
    while way[0] in came_from:
        way.insert(0, came_from[way[0]])
    return way


def _slugs(ids: list[int]) -> list[str]:
    slugs = dict(Assistant.objects.filter(pk__in=ids).values_list("pk", "slug"))
    return [slugs[each] for each in ids]


def _duty_problems(assistant: Assistant) -> Iterable[CodedError]:
    """What others rely on: whoever leads a domain or is on a list can't be taken out of it from the other end."""
    if assistant.pk is None:
        return
    for domain in assistant.supervised_domains.exclude(pk=assistant.domain_id or 0):
        yield CodedError(
            code="SUPERVISOR_MOVED",
            field="domain",
            message=f"It leads the domain “{domain}” and so has to belong to it.",
            fix="Let another assistant lead that domain first.",
        )
    if assistant.public and (giver := assistant.delegators.exclude(pk=assistant.pk).first()):
        yield CodedError(
            code="DELEGATE_PUBLIC",
            field="public",
            message=f"“{giver}” hands work to it, and an assistant for visitors can't be handed work.",
            fix=f"Take it off the list of “{giver}” first.",
        )


def _step_problems(assistant: Assistant) -> Iterable[CodedError]:
    most = settings.TASKMONKEY["MAX_STEPS"]
    if not 1 <= assistant.max_steps <= most:
        yield CodedError(
            code="STEPS_OUT_OF_RANGE",
            field="max_steps",
            message=f"A turn has 1 to {most} model calls.",
            fix=f"Enter a number from 1 to {most}.",
        )


def _limit_problems(assistant: Assistant) -> Iterable[CodedError]:
    for field in ("turn_tokens", "idle_seconds", "wall_seconds"):
        if getattr(assistant, field) == 0:
            yield CodedError(
                code="LIMIT_OF_NOTHING",
                field=field,
                message="With a limit of 0 it could not even begin.",
                fix="Enter a number from 1, or nothing for the site's default.",
            )


def _foreign(field: str, code: str) -> CodedError:
    return CodedError(code=code, field=field, message="This belongs to another team.", fix="Choose one of this team's own.")


def _bad_folder(code: str, message: str) -> CodedError:
    return CodedError(code=code, field="path", message=message, fix="Enter the absolute path of a folder of documents.")
