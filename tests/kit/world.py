"""The people, tenants and assistants of the tests."""

from dataclasses import dataclass

from assistants.llm import scripted
from assistants.models import Assistant, LLMProfile, Membership, Tenant, Thread, User
from assistants.turns import lifecycle


@dataclass
class World:
    """Alice (admin) and Bob (member) share tenant `apes`; Rita only reads there; Charlie belongs to `bears`."""

    apes: Tenant
    bears: Tenant
    alice: User
    bob: User
    rita: User
    charlie: User
    lead: Assistant

    def assistant(self, slug: str, *, tools: list[str] | None = None, script: object = None, **fields: object) -> Assistant:
        """One more assistant of the apes, with its own script if one is given."""
        made = Assistant.objects.create(
            tenant=fields.pop("tenant", self.apes),
            slug=slug,
            name=fields.pop("name", slug.title()),
            description=fields.pop("description", f"Knows about {slug}."),
            instructions=fields.pop("instructions", f"You are {slug}."),
            tools=tools or [],
            **fields,
        )
        if script is not None:
            made.profile = scripted_profile(made.tenant, slug, script)
            made.save()
        return made

    def script(self, script: object) -> None:
        """What the lead's model does from now on."""
        scripted.register(self.lead.profile.model, script)

    def open(self, text: str = "Hello", *, owner: User | None = None, assistant: Assistant | None = None) -> Thread:
        """A new conversation with the lead, owned by Alice."""
        return lifecycle.open_thread(assistant or self.lead, owner=owner or self.alice, text=text)


def scripted_profile(tenant: Tenant, name: str, script: object) -> LLMProfile:
    """A profile whose model follows the script."""
    model = f"{tenant.slug}-{name}"
    scripted.register(model, script)
    return LLMProfile.objects.create(tenant=tenant, name=name, provider="scripted", model=model, makes_titles=False)


def build() -> World:
    apes = Tenant.objects.create(slug="apes", name="Apes")
    bears = Tenant.objects.create(slug="bears", name="Bears")
    people = {name: User.objects.create_user(name, password="secret") for name in ("alice", "bob", "rita", "charlie")}
    for name, tenant, role in (
        ("alice", apes, "admin"),
        ("bob", apes, "member"),
        ("rita", apes, "reader"),
        ("charlie", bears, "admin"),
    ):
        Membership.objects.create(user=people[name], tenant=tenant, role=role)
    lead = Assistant.objects.create(
        tenant=apes,
        slug="lead",
        name="Lead",
        description="Leads.",
        instructions="You are the lead.",
        tools=["ask_clarifying_question", "current_time", "invoke_assistant", "spawn_agent"],
        profile=scripted_profile(apes, "lead", ["Hello from the lead."]),
    )
    return World(apes=apes, bears=bears, lead=lead, **people)
