"""Plays one situation and takes a copy of the database at every boundary at which its process could have died."""

import contextlib
import itertools
import random
import secrets
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from django.apps import apps
from django.db import connection

from assistants import failpoints
from assistants.llm import scripted
from assistants.models import Assistant, LLMProfile, Message, Thread, Turn
from assistants.turns import act, executors, lifecycle, questions, think
from assistants.turns.loop import run_turn
from tests.journals import play, rows
from tests.kit import turns, world

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@dataclass
class Journal:
    """A copy of the database at one moment, and where that was; `scripts` is what each model says from then on.

    `deeds` counts what a person had done by then.
    """

    cut: str
    now: str
    deeds: int
    tables: rows.Tables
    scripts: dict[str, Any]


class _Watching(dict[str, Any]):
    """In the place of the armed failpoints: none of them acts, but each is told of."""

    def __init__(self, tell: Any) -> None:
        super().__init__()
        self._tell = tell

    def __contains__(self, name: object) -> bool:
        self._tell(str(name))
        return False


@dataclass
class Stage:
    """What a situation is played on. The first conversation that is opened is the one that all is about."""

    time: play.Time
    ground: world.World = field(default_factory=world.build)
    folder: str = ""
    journals: list[Journal] = field(default_factory=list)
    scripts: dict[str, Any] = field(default_factory=dict)
    thread: Thread | None = None
    deeds: int = 0

    def say(self, script: Any, assistant: Assistant | None = None) -> None:
        """What the lead's model, or another's, does from now on."""
        profile = (assistant or self.ground.lead).profile
        assert profile is not None
        self.scripts[profile.model] = script
        scripted.register(profile.model, script)

    def recovers(self, script: Any, assistant: Assistant | None = None) -> None:
        """The same once its provider is back: that is what every copy so far waits for."""
        self.say(script, assistant)
        for journal in self.journals:
            journal.scripts = dict(self.scripts)

    def worker(self, slug: str, script: Any, *tools: str, **more: Any) -> Assistant:
        """One more assistant, with its script."""
        made = self.ground.assistant(slug, tools=list(tools), script=script, **more)
        self.scripts[made.profile.model] = script
        return made

    def lead(self, *tools: str, **more: Any) -> None:
        """The lead's tools and settings."""
        for name, value in {"tools": list(tools), **more}.items():
            setattr(self.ground.lead, name, value)
        self.ground.lead.save()

    def builtin(self, assistant: Assistant) -> None:
        """Lets the assistant be answered by the model that is built in."""
        made, _ = LLMProfile.objects.get_or_create(
            tenant=self.ground.apes, name="builtin", defaults={"provider": "builtin", "model": "builtin", "makes_titles": False}
        )
        assistant.profile = made
        assistant.save()

    def open(self, text: str = "Please look into it", **more: Any) -> Thread:
        """Alice begins the conversation."""
        self.thread = self.ground.open(text, **more)
        turns.commit_hooks()
        self.cut("opened")
        return self.thread

    def put(self, text: str, joins: str = "", thread: Thread | None = None) -> None:
        """Alice sends a message: behind what runs, for its next step, or at once."""
        target = thread or self.thread
        assert target is not None
        questions.send_or_answer(target, author=self.ground.alice, text=text, client_key=text, joins=joins)
        self._done("put")

    def stop(self, turn: Turn) -> None:
        """Alice stops a turn."""
        lifecycle.stop_turn(turn.pk, by="alice")
        self._done("stop")

    def run_one(self) -> None:
        """Lets the turn that was rung for first run until it waits or ends."""
        turns.commit_hooks()
        turn_id = executors.rung.pop(0)
        run_turn(turn_id)
        turns.commit_hooks()
        self.cut("at rest")

    def run(self) -> None:
        """The same for all, until nothing is left that could go on without a person or the time."""
        for _ in range(200):
            turns.commit_hooks()
            if not executors.rung:
                return
            self.run_one()
        raise AssertionError("the turns did not come to rest")

    def cut(self, where: str) -> None:
        """Takes a copy, unless a transaction is open or nothing has changed since the last one."""
        if threading.current_thread() is not threading.main_thread() or connection.savepoint_ids:
            return
        tables = rows.dump(self.folder)
        if not self.journals or self.journals[-1].tables != tables:
            self.journals.append(Journal(where, self.time.moment.isoformat(), self.deeds, tables, dict(self.scripts)))

    def _done(self, what: str) -> None:
        self.deeds += 1
        turns.commit_hooks()
        self.cut(what)


@contextlib.contextmanager
def cutting(stage: Stage) -> Iterator[None]:
    """Copies are taken at every failpoint outside of transactions, and where a reply was asked for, half there, or stored."""
    ask, save, move_on = think._ask, think._save_reply, act._move_on

    def asking(*args: Any) -> Any:
        stage.cut("model asked")
        return ask(*args)

    def saving(claim: Any, allowed: Any, message: Message, reply: Any) -> Any:
        half = lifecycle.reply_parts(reply.text[: len(reply.text) // 2], reply.reasoning)
        Message.objects.filter(pk=message.pk).update(parts=half)
        stage.cut("half a reply")
        return save(claim, allowed, message, reply)

    def moving(*args: Any) -> Any:
        stage.cut("calls carried out")
        return move_on(*args)

    with (
        patch.object(failpoints, "ARMED", _Watching(stage.cut)),
        patch.object(think, "_ask", asking),
        patch.object(think, "_save_reply", saving),
        patch.object(act, "_move_on", moving),
    ):
        yield


@contextlib.contextmanager
def fixed_names() -> Iterator[None]:
    """Ids and tokens are counted instead of drawn, so that a recording says the same each time it is made."""
    numbers = itertools.count(1)

    def next_id() -> uuid.UUID:
        return uuid.UUID(int=next(numbers) << 8 | 0x4000_8000_0000_0000_0000)

    def token_hex(size: int = 32) -> str:
        return f"{next(numbers):0{2 * size}x}"

    fields = [each for model in apps.get_models() for each in model._meta.local_fields if each.default is uuid.uuid4]
    random.seed(7)
    for each in fields:
        each.default = next_id
        each.__dict__.pop("_get_default", None)
    try:
        with patch.object(secrets, "token_hex", token_hex):
            yield
    finally:
        for each in fields:
            each.default = uuid.uuid4
            each.__dict__.pop("_get_default", None)
