"""Who answers in a thread: an assistant as it is set up now, or the ad-hoc agent that the thread was opened with."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings

from assistants.llm.detect import detect_profile
from assistants.llm.profile import Profile

from .assistant import Assistant, PlanApproval, PlanGate
from .llm_profile import LLMProfile
from .prepared import Prepared
from .tenant import Tenant, managed_by
from .thread import Thread


@dataclass(frozen=True)
class Definition:
    """An assistant's definition at one moment. `slug` is empty for an ad-hoc agent."""

    name: str
    instructions: str
    tools: tuple[str, ...]
    avatar: str = ""
    slug: str = ""
    description: str = ""
    public: bool = False
    may_ask: bool = False
    plan_gate: str = PlanGate.FANOUT
    plan_approval: str = PlanApproval.NONE
    approve_tools: tuple[str, ...] = ()
    domain_id: int | None = None
    research: bool = False
    internal: bool = False
    enabled: bool = True
    max_steps: int = 50
    version: int = 0
    assistant_id: int | None = None
    profile_id: int | None = None
    # Of a draft, which is on no record: whom it may call; none named means what it means for a saved one.
    delegates: tuple[int, ...] | None = None


AD_HOC = "Ad-hoc agent"
_ASSISTANTS = Prepared(lambda pk: Assistant.objects.filter(pk=pk))
_MANAGED = Prepared(lambda user, tenant: managed_by(user).filter(pk=tenant))
_NAMES = Prepared(lambda tenant, slug: Assistant.objects.filter(tenant=tenant, slug=slug).values_list("name", flat=True))
_PROFILES = Prepared(lambda pk, tenant: LLMProfile.objects.filter(pk=pk, tenant=tenant))
GONE = Definition(name="Deleted assistant", instructions="", tools=(), enabled=False)


def definition_of(thread: Thread) -> Definition:
    """The present definition of whoever answers in this thread (D8: asked again at every step, never remembered)."""
    if thread.agent or thread.assistant_id is None:
        return definition_in(thread)
    # What follows within the same step finds it here.
    thread.assistant = _ASSISTANTS.first(thread.assistant_id)
    return definition_in(thread)


def definition_in(thread: Thread) -> Definition:
    """The same without a query, for a thread that was read together with its assistant within the same step."""
    if "draft" in thread.agent:
        return _define_draft(thread)
    if thread.agent:
        return _define_agent(thread.agent)
    return define(thread.assistant) if thread.assistant else GONE


def name_of(thread: Thread) -> str:
    """The name of whoever answers in this thread, without a query when the assistant is at hand."""
    if thread.agent:
        return str(thread.agent.get("name", AD_HOC))
    return thread.assistant.name if thread.assistant else GONE.name


def name_in(tenant_id: int, slug: Any) -> str:
    """The name of the team's assistant that models call so; whatever else they wrote as it stands."""
    return str(slug and (_NAMES.first(tenant_id, str(slug)) or slug) or "")


def avatar_of(thread: Thread) -> str:
    """The signs in its picture, if it has any of its own; without a query when the assistant is at hand."""
    if thread.agent:
        return str(thread.agent.get("avatar", ""))
    return thread.assistant.avatar if thread.assistant else ""


def draft_of(assistant: Assistant, *, delegates: Iterable[Assistant]) -> dict[str, Any]:
    """The assistant as it stands in memory, unsaved, as what a thread keeps to be answered by it."""
    draft = replace(define(assistant), enabled=True, version=0, delegates=tuple(each.pk for each in delegates))
    return {"name": draft.name, "avatar": draft.avatar, "draft": asdict(draft)}


def _define_draft(thread: Thread) -> Definition:
    """What somebody tries before they save it. It ends with its assistant, and with their right to set it up (D8)."""
    if thread.assistant_id is None:
        return GONE
    lists = {name: tuple(thread.agent["draft"][name]) for name in ("tools", "approve_tools", "delegates")}
    draft = Definition(**{**thread.agent["draft"], **lists})
    return draft if _MANAGED.exists(thread.owner_id or 0, thread.tenant_id) else replace(draft, tools=(), enabled=False)


def _define_agent(agent: dict[str, Any]) -> Definition:
    """What the agent was given and its master still has: a tool that is taken from one is taken from both (D8, S26)."""
    tools = tuple(agent.get("tools", ()))
    master = _ASSISTANTS.first(agent.get("master") or 0)
    # What a person has to see of the master's calls they have to see of its agent's; without a master, of every one.
    approve_tools = tuple(master.approve_tools) if master else tools if "master" in agent else ()
    if "master" in agent and settings.TASKMONKEY["STRICT_GRANTS"]:
        tools = tuple(name for name in tools if master and master.enabled and name in master.tools)
    return Definition(
        name=agent.get("name", AD_HOC),
        avatar=agent.get("avatar", ""),
        instructions=agent.get("prompt", ""),
        tools=tools,
        # Its master gave it the tool to ask with, or did not.
        may_ask=True,
        approve_tools=approve_tools,
        profile_id=agent.get("profile_id"),
        max_steps=min(agent.get("max_steps", 50), settings.TASKMONKEY["MAX_STEPS"]),
    )


def define(assistant: Assistant) -> Definition:
    """The definition of a configured assistant."""
    return Definition(
        name=assistant.name,
        avatar=assistant.avatar,
        slug=assistant.slug,
        description=assistant.description,
        instructions=assistant.instructions,
        tools=tuple(assistant.tools),
        public=assistant.public,
        may_ask=assistant.may_ask,
        plan_gate=assistant.plan_gate,
        plan_approval=assistant.plan_approval,
        approve_tools=tuple(assistant.approve_tools),
        domain_id=assistant.domain_id,
        research=assistant.research,
        internal=assistant.internal,
        enabled=assistant.enabled,
        max_steps=min(assistant.max_steps, settings.TASKMONKEY["MAX_STEPS"]),
        version=assistant.version,
        assistant_id=assistant.pk,
        profile_id=assistant.profile_id,
    )


def resolve_profile(definition: Definition, thread: Thread) -> Profile:
    """The model that answers in this thread (T-12)."""
    return profile_for(definition, thread.tenant)


def profile_for(definition: Definition, tenant: Tenant) -> Profile:
    """The model that answers: the assistant's own, else the tenant's default, else what is at hand.

    Raises `PROFILE_KEY_UNREADABLE`.
    """
    profile_id = definition.profile_id or tenant.default_profile_id
    if profile_id and (row := _PROFILES.first(profile_id, tenant.pk)):
        return row.as_profile()
    return detect_profile()
