"""Deletes conversations that nobody has touched for long."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistants.models import Tenant
from assistants.retention.ageing import forget_untouched, untouched


class Command(BaseCommand):
    help = "Deletes conversations that nobody has touched for the days that their team keeps them, or for --days."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, help="for all teams, whatever they have set")
        parser.add_argument("--tenant", help="slug of the only team to look at")
        parser.add_argument("--dry-run", action="store_true", help="only say how many")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and days < 1:
            raise CommandError("--days must be 1 or more.")
        tenants = Tenant.objects.order_by("slug")
        if slug := options["tenant"]:
            tenants = tenants.filter(slug=slug)
            if not tenants.exists():
                raise CommandError(f"There is no tenant {slug}.")
        for tenant in tenants:
            kept = days or tenant.keep_days
            if kept is None:
                self.stdout.write(f"{tenant.slug}: kept for ever")
                continue
            number = untouched(tenant, kept).count() if options["dry_run"] else forget_untouched(tenant, kept)
            would = "would be " if options["dry_run"] else ""
            self.stdout.write(f"{tenant.slug}: {number} {would}deleted, untouched for {kept} days")
