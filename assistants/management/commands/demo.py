"""Makes the demo tenant, or brings it up to date; running it again changes nothing that a person has set."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from assistants.demo.cast import CASTS, Part
from assistants.models import Assistant, DocumentRoot, Domain, LLMProfile, Membership, Role, Tenant, User
from assistants.setup.versions import save_assistant
from assistants.signals import demo_made
from assistants.tools.registry import find_tool

DEMO = Path(__file__).parents[2] / "demo"
SLUG = "demo"


class Command(BaseCommand):
    help = "Makes a tenant with a lead assistant, three specialists, a public assistant and a folder of documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--language", choices=sorted(CASTS), default="en", help="language of the demo (default en)")
        parser.add_argument(
            "--scripted", action="store_true", help="let the assistants play a fixed story instead of using a model"
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        language, cast = options["language"], CASTS[options["language"]]
        tenant, made = Tenant.objects.get_or_create(slug=SLUG, defaults={"name": cast.tenant})
        self.add_people(tenant, language)
        domain, _ = Domain.objects.get_or_create(tenant=tenant, slug="operations", defaults={"name": cast.domain})
        for name, folder, public in ((cast.handbook, "handbook", False), (cast.help_pages, "help", True)):
            path = str(DEMO / "documents" / language / folder)
            DocumentRoot.objects.get_or_create(tenant=tenant, path=path, defaults={"name": name, "public": public})
        for part in cast.parts:
            self.add_assistant(tenant, domain, part)
        self.lead(tenant, domain)
        self.set_models(tenant, language, scripted=options["scripted"])
        demo_made.send(Tenant, tenant=tenant, language=language)
        self.stdout.write(f"The demo tenant is {'made' if made else 'up to date'}: {cast.tenant}.")

    def add_people(self, tenant: Tenant, language: str) -> None:
        """An administrator, a member and a reader. None has a password: the sign-in link or an admin gives access."""
        people = (("admin", Role.ADMIN, True), ("kim", Role.MEMBER, False), ("robin", Role.READER, False))
        for name, role, superuser in people:
            user = User.objects.filter(username=name).first()
            if user is None:
                user = User(username=name, language=language, is_staff=superuser, is_superuser=superuser)
                user.set_unusable_password()
                user.save()
            Membership.objects.get_or_create(tenant=tenant, user=user, defaults={"role": role})

    def add_assistant(self, tenant: Tenant, domain: Domain, part: Part) -> None:
        """With its first version, so that the way back leads to how the demo came."""
        if tenant.assistants.filter(slug=part.slug).exists():
            return
        assistant = Assistant(
            tenant=tenant,
            slug=part.slug,
            name=part.name,
            avatar=part.avatar,
            description=part.description,
            instructions=part.instructions,
            tools=[name for name in part.tools if find_tool(name)],
            starters=list(part.starters),
            public=part.public,
            research=part.research,
            domain=None if part.public else domain,
        )
        save_assistant(assistant, delegates=(), by=None)

    def lead(self, tenant: Tenant, domain: Domain) -> None:
        """The lead supervises the domain, unless somebody else does by now."""
        if domain.supervisor_id is None:
            domain.supervisor = Assistant.objects.filter(tenant=tenant, slug="lead").first()
            domain.save(update_fields=["supervisor"])

    def set_models(self, tenant: Tenant, language: str, *, scripted: bool) -> None:
        """With --scripted each assistant plays its part; without, those parts are taken away again."""
        if not scripted:
            LLMProfile.objects.filter(tenant=tenant, provider="scripted").delete()
            return
        for assistant in tenant.assistants.all():
            name = f"demo-{language}-{assistant.slug}"
            if (DEMO / "scripts" / f"{name}.json").exists():
                assistant.profile, _ = LLMProfile.objects.get_or_create(
                    tenant=tenant, name=name, defaults={"provider": "scripted", "model": name, "makes_titles": False}
                )
                assistant.save(update_fields=["profile"])
