"""Measures pages of a person with 10,000 conversations and 1,000,000 messages: `python -m bench.large` (PostgreSQL)."""

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from tests.kit.postgres import server

# Conversations of a thousand messages among the many short ones.
LONG, LONG_ONES = 1000, 100
WORDS_PER_MESSAGE = 40
FOREIGN = 20
WARM_UP = 5
Ask = Callable[[], tuple[str, dict[str, str]]]
FAMILIES = ("sidebar", "search, any word", "search, two words", "search, a beginning", "a thread of 1,000")
MESSAGE = "id, thread_id, sequence, role, state, parts, client_key, parent_id, turn_id, round, created"
TURN = (
    "id, thread_id, state, joins, reason, note, round, attempt, crashes, failures, holder, fence, unplanned_handovers,"
    " extra_tokens, budget_notice, assistant_version, profile_label, input_tokens, output_tokens, prompt_tokens,"
    " context_window, model_calls, cost, created, started, finished, user_message_id"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.large", description=__doc__)
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100, help="how often each page is asked for")
    given = parser.parse_args()
    with server(shared_buffers="256MB") as url, tempfile.TemporaryDirectory(prefix="bench-large-") as home:
        prepare_django(url, home)
        ask_for = fill(given.threads, given.messages)
        for name, found in measure(ask_for, given.rounds):
            print(told(name, found), flush=True)
    return 0


def prepare_django(url: str, home: str) -> None:
    """The product's own settings, on a throw-away home and the private server."""
    os.environ.update(DATABASE_URL=url, TASKMONKEY_HOME=home, TASKMONKEY_MODEL="builtin", TASKMONKEY_EXECUTOR="manual")
    os.environ.update(
        DJANGO_SETTINGS_MODULE="taskmonkey.settings", TASKMONKEY_STATEMENT_SECONDS="0", TASKMONKEY_HOSTS="testserver"
    )
    os.environ["TASKMONKEY_LOG_LEVEL"] = "ERROR"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


class Vocabulary:
    """Made-up words, used as unevenly as those of a language: a few in every message, most of them hardly ever."""

    def __init__(self, size: int = 30_000) -> None:
        self.chance = random.Random(7)
        syllables = [a + b for a in "bdfgklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
        self.words = ["".join(self.chance.choices(syllables, k=2 + number % 3)) + str(number % 7) for number in range(size)]
        self.weights = list(accumulate(1 / (rank + 3) for rank in range(size)))

    def text(self, length: int) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=length))


def fill(threads: int, messages: int) -> dict[str, Ask]:
    """One person's conversations, and as many messages; gives what each kind of page is asked for with."""
    from django.db import connection

    from assistants.models import Assistant, LLMProfile, Membership, Tenant, Thread, User

    started = time.monotonic()
    tenant = Tenant.objects.create(slug="bench", name="Bench")
    profile = LLMProfile.objects.create(tenant=tenant, name="built in", provider="builtin", model="builtin")
    lead = Assistant.objects.create(tenant=tenant, slug="lead", name="Lead", instructions="You answer.", profile=profile)
    people = [User.objects.create_user(name, password="!") for name in ("much", "little")]
    Membership.objects.bulk_create([Membership(user=user, tenant=tenant, role="member") for user in people])
    words = Vocabulary()
    sizes = sized(threads, messages)
    made = Thread.objects.bulk_create(
        [
            Thread(tenant=tenant, owner=people[number >= threads], assistant=lead, title=words.text(5)[:190], title_by="text",
                   last_message=size, last_event=2 * size, last_news=2 * size, seen_event=2 * size)
            for number, size in enumerate([*sizes, *[40] * FOREIGN])
        ],
        batch_size=500,
    )  # fmt: skip
    rows = Rows(words, [(thread.pk, thread.last_message) for thread in made])
    with connection.cursor() as cursor:
        # Filled in one go, as the product does after a restore; the triggers would do it row by row.
        cursor.execute("ALTER TABLE assistants_message DISABLE TRIGGER USER")
        for table, columns, source in (("turn", TURN, rows.turns()), ("message", MESSAGE, rows.messages())):
            cursor.execute("SET session_replication_role = replica")
            with cursor.copy(f"COPY assistants_{table} ({columns}) FROM STDIN") as copy:
                for row in source:
                    copy.write_row(row)
            cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ALTER TABLE assistants_message ENABLE TRIGGER USER")
        cursor.execute("UPDATE assistants_thread SET leaf_id = m.id FROM assistants_message m"
                       " WHERE m.thread_id = assistants_thread.id AND m.sequence = assistants_thread.last_message")  # fmt: skip
        print(f"stored after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        index_anew(cursor)
        cursor.execute("VACUUM ANALYZE")
    print(f"{rows.count} messages, filled in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return questions(words, [thread.chat_id for thread, size in zip(made, sizes, strict=False) if size == LONG])


def sized(threads: int, messages: int) -> list[int]:
    """How many messages each conversation has: some a thousand, the others the rest."""
    long_ones = min(LONG_ONES, messages // (10 * LONG), threads)
    short = max(2, (messages - long_ones * LONG) // max(threads - long_ones, 1) // 2 * 2)
    every = threads // max(long_ones, 1)
    return [LONG if long_ones and number % every == 0 and number // every < long_ones else short for number in range(threads)]


def index_anew(cursor: Any) -> None:
    from assistants.conversations import search_postgres

    for statement in search_postgres.FILL:
        cursor.execute(statement)


class Rows:
    """The rows of turns and messages: a question, an answer, a question ... each behind the one before it."""

    def __init__(self, words: Vocabulary, threads: list[tuple[int, int]]) -> None:
        self._words, self._threads, self.count = words, threads, 0
        self._epoch = datetime(2026, 1, 1, tzinfo=UTC)

    def _ids(self, thread: int, sequence: int) -> uuid.UUID:
        return uuid.UUID(int=(thread << 64) | sequence)

    def turns(self) -> Iterator[tuple[Any, ...]]:
        number = 0
        for thread, size in self._threads:
            for sequence in range(1, size, 2):
                number += 1
                at = self._epoch + timedelta(seconds=number)
                yield (number, thread, "done", "", "", "", 0, 1, 0, 0, "", 1, 0, 0, 0, 1, "bench", 900, 80, 900, 0, 1, 0, at,
                       at, at, self._ids(thread, sequence))  # fmt: skip

    def messages(self) -> Iterator[tuple[Any, ...]]:
        turn = 0
        for thread, size in self._threads:
            for sequence in range(1, size + 1):
                asked = sequence % 2 == 1
                turn += asked
                self.count += 1
                text = self._words.text(12 if asked else 2 * WORDS_PER_MESSAGE - 12)
                before = self._ids(thread, sequence - 1) if sequence > 1 else None
                yield (self._ids(thread, sequence), thread, sequence, "user" if asked else "assistant", "complete",
                       json.dumps([{"type": "text", "text": text}]), "", before,
                       turn, 0, self._epoch + timedelta(seconds=self.count))  # fmt: skip


def questions(words: Vocabulary, long_threads: list[str]) -> dict[str, Ask]:
    """Words of any rarity: what is everywhere, and what is nowhere but in one place."""
    chance = random.Random(11)

    def word() -> str:
        return words.words[int(len(words.words) ** chance.random()) - 1]

    asked: tuple[Ask, ...] = (
        lambda: ("/inbox/", {}),
        lambda: ("/search/", {"q": word()}),
        lambda: ("/search/", {"q": f"{word()} {word()}"}),
        lambda: ("/search/", {"q": word()[:3]}),
        lambda: (f"/c/{chance.choice(long_threads)}/", {}),
    )
    return dict(zip(FAMILIES, asked, strict=True))


@dataclass
class Taken:
    """What one answer took: seconds from the request to its last byte, CPU seconds of this process, and seconds in which
    the database was waited for."""

    whole: float
    own: float
    database: float


def measure(ask_for: dict[str, Ask], rounds: int) -> Iterator[tuple[str, list[Taken]]]:
    """Each kind of page for the person with very many conversations and the one with few; the first answers are left out."""
    from django.test import Client

    from assistants.models import User

    # As the server does once it has settled down: it does not carry what this process filled the database from.
    gc.collect()
    gc.freeze()
    for name in ("much", "little"):
        browser = Client()
        browser.force_login(User.objects.get(username=name))
        for family, ask in ask_for.items():
            if name == "little" and "thread" in family:
                continue
            found = [fetch(browser, *ask(), "search" in family) for _ in range(rounds + WARM_UP)]
            yield family if name == "much" else f"{family}, of somebody with {FOREIGN}", found[WARM_UP:]


def fetch(browser: Any, address: str, values: dict[str, str], is_fragment: bool) -> Taken:
    """Asks this process for a page, as the server does."""
    from django.db import connection

    waited = 0.0

    def watch(execute: Callable[..., Any], *told: Any) -> Any:
        nonlocal waited
        begun = time.perf_counter()
        try:
            return execute(*told)
        finally:
            waited += time.perf_counter() - begun

    begun, own = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(watch):
        answer = browser.get(address, values, headers={"HX-Request": "true"} if is_fragment else {})
    taken = Taken(time.perf_counter() - begun, time.process_time() - own, waited)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")
    return taken


def told(name: str, found: list[Taken]) -> str:
    """One line of figures, in milliseconds."""
    figures: dict[str, Any] = {"page": name, "n": len(found)}
    for field in ("whole", "own", "database"):
        times = sorted(getattr(each, field) * 1000 for each in found)
        figures[field] = {"p50": round(statistics.median(times), 1), "p95": round(times[int(len(times) * 0.95)], 1)}
    return json.dumps(figures)


if __name__ == "__main__":
    sys.exit(main())
