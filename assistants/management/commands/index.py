"""Reads the folders of documents again and says what became of each file."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from assistants.documents.indexing import index_root
from assistants.errors import CodedError
from assistants.models import DocumentRoot


class Command(BaseCommand):
    help = "Brings the search index of documents up to date. Searching does so by itself; this shows how it goes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="slug of the tenant whose folders are read (default: all)")
        parser.add_argument("--root", help="name of one folder")

    def handle(self, *args: Any, **options: Any) -> None:
        roots = DocumentRoot.objects.select_related("tenant").order_by("tenant__slug", "name")
        if options["tenant"]:
            roots = roots.filter(tenant__slug=options["tenant"])
        if options["root"]:
            roots = roots.filter(name=options["root"])
        if not roots:
            raise CommandError("There is no such folder of documents. The administration lists them under Document roots.")
        failed = [root for root in roots if not self.index(root, verbose=options["verbosity"] > 0)]
        if failed:
            raise CommandError(f"Not read: {', '.join(f'{root.tenant.slug}/{root.name}' for root in failed)}.")

    def index(self, root: DocumentRoot, *, verbose: bool) -> bool:
        """Reads one folder; False when it can't be read."""
        self.stdout.write(f"{root.tenant.slug}/{root.name}: {root.path}")

        line = _ProgressLine(self.stderr if verbose and self.stderr.isatty() else None)

        def progress(path: str, outcome: str) -> None:
            if verbose:
                line.clear()
                self.stdout.write(f"  {_visible(path)}: {outcome}")

        try:
            report = index_root(root, progress=progress, count=line.show)
        except CodedError as error:
            self.stderr.write(f"  {error.told}")
            return False
        finally:
            line.clear()
        self.stdout.write(
            f"  {report.documents} documents in {report.passages} passages: {report.added} new, {report.changed} changed,"
            f" {report.removed} gone, {report.unchanged} unchanged, {len(report.skipped)} skipped, {len(report.failed)} failed,"
            f" in {report.seconds:.1f} s"
        )
        return True


def _visible(name: str) -> str:
    """A name in one line, without anything that a terminal would obey rather than show: anybody may have given it."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)


class _ProgressLine:
    """How far it is, in one line of a terminal that is written over; nothing where nobody looks on."""

    def __init__(self, out: OutputWrapper | None) -> None:
        self._out = out
        self._shown = ""

    def show(self, done: int, total: int) -> None:
        """Shown when the whole per cent changes, or every hundredth file."""
        text = f"  {done} of {total} files ({100 * done // max(total, 1)} %)"
        if self._out and (done % 100 == 0 or text.rpartition("(")[2] != self._shown.rpartition("(")[2]):
            self.clear()
            self._out.write(text, ending="")
            self._out.flush()
            self._shown = text

    def clear(self) -> None:
        """Leaves an empty line."""
        if self._out and self._shown:
            self._out.write("\r" + " " * len(self._shown) + "\r", ending="")
            self._shown = ""
