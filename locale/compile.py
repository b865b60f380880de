"""Compiles the translations that stand beside it; with --check only says which of them are not up to date."""

import sys
from pathlib import Path

import polib

HERE = Path(__file__).resolve().parent


def stale(source: Path) -> bool:
    """Whether the compiled file is missing or says anything else than its source."""
    compiled = source.with_suffix(".mo")
    if not compiled.exists():
        return True
    return contents(polib.mofile(str(compiled))) != contents(polib.pofile(str(source)).translated_entries())


def contents(entries: list[polib.POEntry] | polib.MOFile) -> dict[tuple[str, str, str], tuple[str, ...]]:
    return {
        (entry.msgctxt or "", entry.msgid, entry.msgid_plural): (entry.msgstr, *entry.msgstr_plural.values())
        for entry in entries
    }


def main() -> int:
    old = [source for source in sorted(HERE.glob("*/LC_MESSAGES/*.po")) if stale(source)]
    if "--check" in sys.argv:
        for source in old:
            print(f"{source.relative_to(HERE)} is not compiled: run locale/compile.py")
        return bool(old)
    for source in old:
        polib.pofile(str(source)).save_as_mofile(str(source.with_suffix(".mo")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
