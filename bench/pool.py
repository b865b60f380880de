"""Puts down what engines that miss a question show for it, to be judged: `.venv/bin/python -m bench.pool SET... > pool.txt`."""

# As at TREC, whoever judges sees passages without who found them and where, in an order of chance. Those that give a correct
# and complete answer by themselves go into `judged.tsv`, each with a phrase of theirs; then `--read pool.txt` notes in
# `read.tsv` that these were read, so that they are not asked for again. An engine that has found the answer can gain nothing
# by another one: what only such engines show is left out.

import argparse
import contextlib
import hashlib
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from .questions import Question, read_questions, rows_of
from .retrieval import TOP, Search, answerable, flat, holds, prepare_django, prepare_library
from .rivals import Indexed

READ = Path(__file__).with_name("read.tsv")
ASKED, SHOWN = "=== ", "--- "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="the sets of questions")
    parser.add_argument("--read", type=Path, help="a pool whose passages were all read")
    options = parser.parse_args()
    if options.read:
        note_read(options.read)
    if options.sets:
        with tempfile.TemporaryDirectory(prefix="bench-pool-") as home, contextlib.redirect_stdout(sys.stderr):
            prepare_django(Path(home, "home"))
            passages, engines = prepare_library(Path(home, "library"))
            asked = [each for each in answerable(passages, read_questions()) if each.set in options.sets]
            pooled = list(pool(passages, engines, asked))
        print("\n".join(pooled))


def pool(passages: Sequence[Indexed], engines: dict[str, Search], questions: Sequence[Question]) -> Iterator[str]:
    """Each question with its known answer and what is to be read for it, in lines."""
    paths = {each.text: each.path for each in passages}
    read = read_before()
    dice = random.Random(1)
    for question in questions:
        results = [search(question.question)[:TOP] for search in engines.values()]
        misses = [each for each in results if not any(holds(shown, [question.phrase]) for shown in each)]
        texts = sorted(
            {text for result in misses for shown in result for text in shown if name_of(text) not in read[question.question]}
        )
        dice.shuffle(texts)
        if texts:
            yield f"{ASKED}{question.question}\n    {question.document}: {question.phrase}"
        for text in texts:
            yield f"{SHOWN}{name_of(text)} {paths[text]}\n{flat(text)}"


def name_of(text: str) -> str:
    """A short name for a passage by what it says."""
    return hashlib.sha256(flat(text).encode()).hexdigest()[:8]


def read_before() -> dict[str, set[str]]:
    """The names of the passages that were judged, by question."""
    return defaultdict(set, {question: set(names.split()) for question, names in rows_of(READ)})


def note_read(pooled: Path) -> None:
    """Adds a pool's passages to those that were judged."""
    read = read_before()
    question = ""
    for line in pooled.read_text(encoding="utf-8").splitlines():
        if line.startswith(ASKED):
            question = line.removeprefix(ASKED)
        elif line.startswith(SHOWN):
            read[question].add(line.split()[1])
    rows = (f"{question}\t{' '.join(sorted(names))}" for question, names in sorted(read.items()))
    READ.write_text("\n".join(["question\tpassages", *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
