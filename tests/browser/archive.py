"""What a research finds things in: a folder of documents, and an assistant that researches with the built-in engine."""

from pathlib import Path
from typing import Any

CARE = """# Care of backpacks

## Zippers

Brush sand out of the zipper of the Tundra 45 twice a year.
A zipper that jams is rubbed with dry wax, never with oil.

## Washing

Wash by hand at 30 degrees.
"""


def open_archive(tenant: Any) -> None:
    """Puts a long document into the site's home, and adds who answers from it."""
    from django.conf import settings

    from assistants.documents.indexing import index_root
    from assistants.models import Assistant, DocumentRoot, LLMProfile

    folder = Path(settings.HOME) / "archive"
    folder.mkdir()
    (folder / "care.md").write_text(CARE + "\nNothing to see here.\n" * 60)
    index_root(DocumentRoot.objects.create(tenant=tenant, name="archive", path=str(folder)))
    Assistant.objects.create(
        tenant=tenant,
        slug="research",
        name="Research",
        avatar="🔬",
        description="Finds it in the documents.",
        instructions="You research.",
        research=True,
        tools=["subagent", "emit_autorag_results"],
        profile=LLMProfile.objects.create(tenant=tenant, name="research", provider="builtin", makes_titles=False),
    )
