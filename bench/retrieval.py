"""Measures how well and how fast documents are found, beside other engines: `.venv/bin/python -m bench.retrieval`."""

import argparse
import gc
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .library import make_library
from .questions import Question, read_questions
from .rivals import Indexed, rivals

if TYPE_CHECKING:
    from assistants.models import DocumentRoot

TOP = 10
MOST_BEARERS = 3
Search = Callable[[str], Sequence[Sequence[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="how many files the timed folder has; 0 leaves it out")
    parser.add_argument("--missed", action="store_true", help="name the questions that each engine does not answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-retrieval-") as home:
        prepare_django(Path(home, "home"))
        measure_recall(Path(home, "library"), missed=options.missed)
        if options.files:
            measure_speed(Path(home, "library"), Path(home, "many"), options.files)


def prepare_django(home: Path) -> None:
    """A throw-away home with the settings that the product has without any."""
    home.mkdir()
    os.environ.update(TASKMONKEY_HOME=str(home), TASKMONKEY_MODEL="builtin", DJANGO_SETTINGS_MODULE="taskmonkey.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    # As a server does once it has started, and `manage.py` before that.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def measure_recall(folder: Path, *, missed: bool) -> None:
    """Recall among the first ten of every engine, over the same passages."""
    passages, engines = prepare_library(folder)
    questions = read_questions()
    known = answerable(passages, questions)
    for name in dict.fromkeys(each.set for each in questions):
        asked = [each for each in known if each.set == name]
        show(set=name, questions=len(asked), left_out=sum(each.set == name for each in questions) - len(asked))
        for engine, search in engines.items():
            show(set=name, engine=engine, **judge(search, asked, missed=missed))


def prepare_library(folder: Path) -> tuple[list[Indexed], dict[str, Search]]:
    """The library's passages, and every engine over them by name."""
    count = make_library(folder)
    root, report, seconds = index(folder, "library")
    from assistants.models import Passage

    rows = Passage.objects.order_by("pk").values_list("document__path", "text", "heading", "document__title")
    passages = [Indexed(*row) for row in rows]
    show(files=count, passages=report.passages, index_mb_per_s=round(report_rate(folder, seconds), 2))
    return passages, {**ours(root), **rivals(passages)}


def answerable(passages: Sequence[Indexed], questions: Sequence[Question]) -> list[Question]:
    """Those whose phrase stands in one to three passages; one that stands in many would be found by accident.

    The same holds for a phrase that was judged right as well: a question keeps those of them that do so.
    """
    texts = [flat(each.text) for each in passages]

    def is_rare(phrase: str) -> bool:
        return 0 < sum(flat(phrase) in text for text in texts) <= MOST_BEARERS

    return [replace(each, also=tuple(filter(is_rare, each.also))) for each in questions if is_rare(each.phrase)]


def report_rate(folder: Path, seconds: float) -> float:
    """Megabytes a second."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6 / seconds


def judge(search: Search, questions: Sequence[Question], *, missed: bool) -> dict[str, float]:
    """How many of the questions an engine answers among its first ten, how many at once, and how long it takes."""
    started, worked = time.perf_counter(), time.process_time()
    shown = [search(each.question) for each in questions]
    spent, cpu = ((now - then) * 1000 / len(questions) for now, then in clocks_since(started, worked))
    ranks = [rank_of(results, [each.phrase]) for results, each in zip(shown, questions, strict=True)]
    judged = [rank_of(results, [each.phrase, *each.also]) for results, each in zip(shown, questions, strict=True)]
    if missed:
        for each, rank in zip(questions, judged, strict=True):
            if not rank:
                print(f"    {each.question} ({each.document})")
    figures = {
        "recall_at_10": sum(rank > 0 for rank in ranks) / len(ranks),
        "judged_recall_at_10": sum(rank > 0 for rank in judged) / len(ranks),
        "first": sum(rank == 1 for rank in ranks) / len(ranks),
        "mrr": sum(1 / rank for rank in ranks if rank) / len(ranks),
        "query_ms": spent,
        "query_cpu_ms": cpu,
    }
    return {key: round(value, 3) for key, value in figures.items()}


def clocks_since(started: float, worked: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Wall and CPU seconds of this process, each now and then: others may be at work on the machine."""
    return (time.perf_counter(), started), (time.process_time(), worked)


def ours(root: "DocumentRoot") -> dict[str, Search]:
    """The product's methods, each as lists of the excerpts that a result shows."""
    from assistants.documents.merge import Hit, merge
    from assistants.documents.methods import bm25_hits, vector_hits
    from assistants.errors import CodedError

    def excerpts(hits: Sequence[Hit]) -> list[list[str]]:
        return [[hit.excerpt] for hit in hits]

    def merged(query: str) -> list[list[str]]:
        return shown({"bm25": bm25_hits([root], query, 2 * TOP)})

    def merged_with_vector(query: str) -> list[list[str]]:
        return shown({"bm25": bm25_hits([root], query, 2 * TOP), "vector": vector_hits([root], query, 2 * TOP)})

    def shown(found: dict[str, list[Hit]]) -> list[list[str]]:
        return [[hit.excerpt for hit in each.hits] for each in merge(found, limit=TOP)]

    methods: dict[str, Search] = {"bm25": lambda query: excerpts(bm25_hits([root], query, TOP)), "merged": merged}
    try:
        vector_hits([root], "a first time", 1)
    except CodedError as error:
        show(engine="vector", off=error.message)
        return methods
    return {**methods, "vector": lambda query: excerpts(vector_hits([root], query, TOP)), "merged, vector": merged_with_vector}


def rank_of(results: Sequence[Sequence[str]], phrases: Sequence[str]) -> int:
    """The place, from 1, of the first result that shows one of the phrases; 0 if none of the first ten does."""
    return next((rank for rank, shown in enumerate(results[:TOP], 1) if holds(shown, phrases)), 0)


def holds(texts: Sequence[str], phrases: Sequence[str]) -> bool:
    """Whether one of the phrases stands in one of the texts, whatever its lines look like."""
    return any(flat(phrase) in flat(text) for text in texts for phrase in phrases)


def flat(text: str) -> str:
    """In one line, with one space between words."""
    return " ".join(text.split())


def measure_speed(library: Path, folder: Path, files: int) -> None:
    """Indexing and asking over many files that are put together from the library's paragraphs."""
    size = multiply(library, folder, files)
    root, report, seconds = index(folder, "many")
    from assistants.documents.indexing import index_root
    from assistants.documents.methods import bm25_hits
    from assistants.models import DocumentRoot

    started = time.perf_counter()
    index_root(DocumentRoot.objects.get(pk=root.pk), trust_times=True)
    again = time.perf_counter() - started
    spent, cpu = [], []
    for question in read_questions():
        started, worked = time.perf_counter(), time.process_time()
        bm25_hits([root], question.question, TOP)
        for told, (now, then) in zip((spent, cpu), clocks_since(started, worked), strict=True):
            told.append((now - then) * 1000)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    helper = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    show(
        files=files,
        megabytes=round(size / 1e6, 1),
        passages=report.passages,
        index_mb_per_s=round(size / 1e6 / seconds, 2),
        unchanged_pass_s=round(again, 1),
        query_ms=at_percent(spent, 50, 95),
        query_cpu_ms=at_percent(cpu, 50, 95),
        memory_mb=round(memory),
        helper_mb=round(helper),
    )


def at_percent(values: list[float], *percents: int) -> list[float]:
    """What so many per cent of the values are below."""
    return [round(sorted(values)[len(values) * percent // 100], 1) for percent in percents]


def multiply(library: Path, folder: Path, files: int) -> int:
    """Writes files of some paragraphs each, the same ones every time, and says how many bytes they have."""
    dice = random.Random(1)
    texts = (path.read_text(encoding="utf-8") for path in sorted(library.rglob("*")) if path.is_file())
    paragraphs = [each for text in texts for each in re.split(r"\n{2,}", text) if 40 < len(each) < 1500]
    size = 0
    for number in range(files):
        target = folder / f"{number // 500:03}" / f"paper-{number}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = f"# Paper {number}\n\n" + "\n\n".join(dice.choices(paragraphs, k=12)) + "\n"
        size += target.write_text(text, encoding="utf-8")
    return size


def index(folder: Path, name: str) -> "tuple[DocumentRoot, Any, float]":
    """A root for the folder, what its first pass reports, and the seconds that it took."""
    from assistants.documents.indexing import index_root
    from assistants.models import DocumentRoot, Tenant

    tenant, _ = Tenant.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    root = DocumentRoot.objects.create(tenant=tenant, name=name, path=str(folder))
    started, worked, helped = time.perf_counter(), time.process_time(), helper_seconds()
    report = index_root(root)
    spent = time.perf_counter() - started
    show(
        indexed=name,
        seconds=round(spent, 1),
        cpu_s=round(time.process_time() - worked, 1),
        helpers_cpu_s=helper_seconds() - helped,
    )
    return root, report, spent


def helper_seconds() -> float:
    """CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(used.ru_utime + used.ru_stime, 1)


def show(**figures: object) -> None:
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    sys.exit(main())
