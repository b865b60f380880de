"""Records running turns as journals of this version, under the next number: `python -m tests.journals.record`."""

import contextlib
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded")
PER_SITUATION = 6


def main() -> None:
    """Plays every situation, checks that each of its journals ends like the situation itself, and writes one new file."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        lines = list(_all_journals())
    finally:
        teardown_databases(databases, verbosity=0)
    number = 1 + max((int(path.name[:4]) for path in RECORDED.glob("*.jsonl.xz")), default=0)
    target = RECORDED / f"{number:04d}.jsonl.xz"
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [_header(), *lines])
    with open(target, "xb") as file:
        file.write(lzma.compress(text.encode(), preset=9))
    print(f"{target.name}: {len(lines)} journals, {target.stat().st_size / 1024:.0f} KB")


def _header() -> dict[str, Any]:
    from django.db.migrations.loader import MigrationLoader

    known = MigrationLoader(None).disk_migrations
    return {"migrations": sorted(f"{app}.{name}" for app, name in known if app in ("assistants", "subchats"))}


def _all_journals() -> Iterator[dict[str, Any]]:
    from tests.journals.situations import ALONE
    from tests.journals.team_situations import TOGETHER

    for situation in (*ALONE, *TOGETHER):
        yield from _journals_of(situation)


def _journals_of(situation: Callable[[Any], None]) -> Iterator[dict[str, Any]]:
    from tests.journals import play
    from tests.journals.replay import replay, undone

    with undone():
        stage = _played(situation)
        played_end = play.the_end()
    total = max(journal.deeds for journal in stage.journals)
    kept = stage.journals[:: max(1, -(-len(stage.journals) // PER_SITUATION))]
    for journal in kept:
        line = {
            "name": f"{situation.__name__}: {journal.cut}, {journal.now[14:23]}",
            "now": journal.now,
            "scripts": journal.scripts,
            "tables": journal.tables,
        }
        line["end"] = replay(line)
        if journal.deeds == total and (reason := _differs(line["end"], played_end)):
            print(f"{line['name']}: ends otherwise than when nothing happened: {reason}", file=sys.stderr)
        yield line


def _differs(end: dict[str, Any], played: dict[str, Any]) -> str:
    """Where a journal ended otherwise than the situation that nobody disturbed; to be looked at before it is committed."""
    for part, value in end.items():
        if value != played[part]:
            return f"{part}: {value} instead of {played[part]}"
    return ""


def _played(situation: Callable[[Any], None]) -> Any:
    from tests.journals import play
    from tests.journals.stage import START, Stage, cutting, fixed_names
    from tests.kit import turns

    turns.forget()
    with contextlib.ExitStack() as around:
        time = around.enter_context(play.own_time(START))
        around.enter_context(fixed_names())
        around.enter_context(play.declared_tools())
        folder = around.enter_context(tempfile.TemporaryDirectory())
        stage = Stage(time, folder=f"{folder}/documents")
        around.enter_context(cutting(stage))
        situation(stage)
        stage.cut("left alone")
        play.run_to_the_end(time)
    return stage


if __name__ == "__main__":
    main()
