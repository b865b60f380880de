"""Tells the state of every index of documents; asks no model and reads no folder (A-41)."""

import json
from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from assistants.documents.methods import index_diagnostics
from assistants.documents.standing import standing
from assistants.models import DocumentRoot, Tenant


@dataclass(frozen=True)
class IndexState:
    """One folder's index. `state` is ready, stale, reading, broken-off, unreadable or unread; `indexed` is ISO 8601."""

    tenant: str
    root: str
    state: str
    documents: int
    passages: int
    failed: int
    partly: int
    skipped: int
    indexed: str | None
    diagnostics: list[dict[str, str]]


class Command(BaseCommand):
    help = "Says how current the search indexes are. Exit code 0 if all are ready, 1 if one is not, 2 for an unknown tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="slug of the tenant whose folders are told of (default: all)")
        parser.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        roots = DocumentRoot.objects.select_related("tenant").order_by("tenant__slug", "name")
        if slug := options["tenant"]:
            if not Tenant.objects.filter(slug=slug).exists():
                raise CommandError(f"There is no tenant {slug}.", returncode=2)
            roots = roots.filter(tenant__slug=slug)
        states = [state_of(root) for root in roots.annotate(passage_count=Count("documents__passages"))]
        ok = all(state.state == "ready" for state in states)
        if options["json"]:
            self.stdout.write(json.dumps({"ok": ok, "indexes": [asdict(state) for state in states]}, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(as_line(state) for state in states) or "There are no folders of documents.")
        if not ok:
            raise SystemExit(1)


def state_of(root: Any) -> IndexState:
    """The state of one root's index, from the record alone."""
    report = root.report
    found = index_diagnostics([root])
    return IndexState(
        tenant=root.tenant.slug,
        root=root.name,
        state=standing(root),
        documents=root.documents.count(),
        passages=root.passage_count,
        failed=report.get("failed_total", 0),
        partly=len(report.get("partly", ())),
        skipped=report.get("skipped_total", 0),
        indexed=root.indexed.isoformat(timespec="seconds") if root.indexed else None,
        diagnostics=[asdict(each) for each in found],
    )


def as_line(state: IndexState) -> str:
    """The same for a person."""
    numbers = f"{state.documents} documents in {state.passages} passages"
    lacks = f"{state.failed} failed, {state.partly} read in part, {state.skipped} skipped"
    return f"{state.tenant}/{state.root}: {state.state}. {numbers}, {lacks}; read {state.indexed or 'never'}"
