"""One of everything that a person can have, in two teams, and browsers of everybody who may try to reach it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from assistants.models import (
    Assistant,
    AuditEntry,
    DocumentRoot,
    Message,
    StoredTable,
    Thread,
    ThreadShare,
    ToolCall,
    Turn,
    User,
)
from assistants.turns import lifecycle
from subchats.models import Evidence, Plan, PlanStep, ResearchRun, Workflow
from tests.kit.turns import forget, last_turn, run_all
from tests.kit.world import World, scripted_profile

CANARY = "canary7391"
POINTER = "tbl_0123456789ab"
PAPERS = f"Papers {CANARY}"
EVIDENCE, RESULT = 7391, "0123456789abcdef:1"
ASK = {"name": "ask_clarifying_question", "arguments": {"question": f"Which {CANARY}?", "options": ["Red", "Blue"]}}
DELEGATE = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": f"Count every {CANARY}"}}
ASKED_HASH = "0" * 64
# What changes with every request although nothing happened.
TOKEN = re.compile(rb'(csrfmiddlewaretoken" value="|X-CSRFToken": "|X-CSRFToken&quot;: &quot;)[A-Za-z0-9]{64}')


@dataclass
class Belongings:
    """A person's conversations: `thread` is at rest with an open question and a sub-chat, in `busy` a turn works, a
    call waits for approval and a message waits."""

    thread: Thread
    child: Thread
    busy: Thread
    message: Message
    question: ToolCall
    call: ToolCall
    asked: ToolCall
    plan: ToolCall
    turn: Turn
    chart: ToolCall
    active: Turn
    queued: Turn

    def number(self, name: str) -> Any:
        """What stands for the thing in an address."""
        found = getattr(self, name)
        return found.chat_id if isinstance(found, Thread) else found.pk


@dataclass
class Town:
    """Alice's belongings, shared with Rita for reading, and those of Charlie in the other team."""

    ground: World
    alice: Belongings
    charlie: Belongings
    root: User
    sessions: dict[str, str] = field(default_factory=dict)

    def browser(self, who: str, **headers: str) -> Client:
        """A browser of its own with this person's session. What breaks the server is a 500, as it is outside of tests."""
        browser = Client(headers=headers, raise_request_exception=False)
        if session := self.sessions.get(who):
            browser.cookies[settings.SESSION_COOKIE_NAME] = session
        return browser


def build(ground: World) -> Town:
    """Charlie is staff, so that the admin's doors are tried as well."""
    User.objects.filter(pk=ground.charlie.pk).update(is_staff=True)
    ground.charlie.refresh_from_db()
    root = User.objects.create_superuser("root", password="secret")
    public = ground.assistant("guide", public=True, script=["Welcome."])
    mine = _belongings(ground, ground.lead, ground.alice)
    for thread in (mine.thread, mine.busy):
        ThreadShare.objects.create(thread=thread, user=ground.rita)
    DocumentRoot.objects.get_or_create(tenant=ground.apes, name=PAPERS, path="/nowhere")
    Workflow.objects.create(tenant=ground.apes, slug="papers", title=f"Papers {CANARY}", definition="Papers.")
    theirs = ground.assistant("head", tenant=ground.bears, tools=ground.lead.tools, script=[])
    made = Town(ground=ground, alice=mine, charlie=_belongings(ground, theirs, ground.charlie), root=root)
    made.sessions = _sessions(made, public)
    # Nobody carries on what is at work.
    connection.run_on_commit.clear()
    forget()
    return made


def _belongings(ground: World, lead: Assistant, owner: User) -> Belongings:
    ground.assistant("stock", tenant=lead.tenant, script=[f"42 of {CANARY}."])
    script = [{"calls": [DELEGATE]}, f"There are 42 {CANARY}.", {"calls": [ASK]}]
    lead.profile = scripted_profile(lead.tenant, f"{lead.slug}-town", script)
    lead.save()
    thread = ground.open(f"How many {CANARY}?", owner=owner, assistant=lead)
    run_all()
    done = last_turn(thread)
    lifecycle.send_message(thread, author=owner, text=f"Which {CANARY}?")
    run_all()
    connection.run_on_commit.clear()
    busy = ground.open(f"Busy {CANARY}", owner=owner, assistant=lead)
    queued = lifecycle.send_message(busy, author=owner, text=f"Waiting {CANARY}").turn
    active = busy.turns.active().get()
    connection.run_on_commit.clear()
    call = ToolCall.objects.create(turn=active, round=0, index=0, name="charge", needs_decision=True, withheld="kept")
    approval = {"state": "asked", "why": ["tool"], "hash": ASKED_HASH, "at": "2026-01-01T10:00:00+00:00"}
    place = {"turn": active, "round": 0, "index": 1, "name": "current_time"}
    asked = ToolCall.objects.create(**place, arguments={"zone": CANARY}, approval=approval)
    _keep_table(thread)
    _keep_research(done)
    wish = {"pointer": POINTER, "kind": "bar", "x": CANARY, "y": ["Units"]}
    chart = ToolCall.objects.create(
        turn=done, round=9, index=0, name="make_chart", arguments=wish, state=ToolCall.State.SETTLED, outcome="ok"
    )
    return Belongings(
        thread=thread,
        child=Thread.objects.get(parent=thread),
        busy=busy,
        message=thread.messages.filter(role="user").order_by("sequence").first(),
        question=last_turn(thread).calls.get(),
        call=call,
        asked=asked,
        plan=_ask_for_plan(active),
        turn=done,
        chart=chart,
        active=active,
        queued=queued,
    )


def _keep_table(thread: Thread) -> None:
    columns = [{"name": CANARY, "type": "text"}, {"name": "Units", "type": "number"}]
    StoredTable.objects.create(
        pointer=POINTER, tenant=thread.tenant, root=thread, title=CANARY, columns=columns, rows=[[CANARY, 42]], row_count=1
    )


def _keep_research(turn: Turn) -> None:
    """Only the first one's: the addresses hold fixed ids, and are tried with what belongs to Alice."""
    if ResearchRun.objects.exists():
        return
    run = ResearchRun.objects.create(turn=turn, session=RESULT.split(":")[0], query=CANARY, finished=turn.finished)
    root, _ = DocumentRoot.objects.get_or_create(tenant=turn.thread.tenant, name=PAPERS, path="/nowhere")
    document = root.documents.create(path="kept.md", title=CANARY, digest="0", text=CANARY)
    said = {
        "document": document,
        "end": len(CANARY),
        "source": CANARY,
        "method": "posix",
        "excerpt": CANARY,
        "relevance": "strong",
        "temporal_status": "unknown",
    }
    evidence = Evidence.objects.create(pk=EVIDENCE, run=run, stable_id="e1", retrieved_at="2026-11-30", **said)
    result = run.results.create(number=1, title=CANARY, summary=CANARY, confidence=1, source=CANARY, method="posix")
    result.evidence.add(evidence)


def _ask_for_plan(turn: Turn) -> ToolCall:
    """A plan that waits for a person's word."""
    asked = {"state": "asked", "why": ["plan"], "hash": ASKED_HASH, "at": "2026-01-01T10:00:00+00:00"}
    call = ToolCall.objects.create(turn=turn, round=8, index=0, name="write_plan", approval=asked)
    plan = Plan.objects.create(turn=turn, hash=ASKED_HASH)
    PlanStep.objects.create(plan=plan, index=1, description=f"Count every {CANARY}", check_text="One figure", call=call)
    return call


def _sessions(made: Town, public: Assistant) -> dict[str, str]:
    browsers = {name: Client() for name in ("visitor", "alice", "bob", "rita", "charlie", "root")}
    for name in ("alice", "bob", "rita", "charlie"):
        browsers[name].force_login(getattr(made.ground, name))
    browsers["root"].force_login(made.root)
    opened = browsers["visitor"].post("/c/", {"assistant": public.pk, "text": "Hi"})
    assert opened.status_code == 302
    return {name: browser.cookies[settings.SESSION_COOKIE_NAME].value for name, browser in browsers.items()}


def record(*, but: tuple[type, ...] = (Session,)) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, for saying that nothing changed."""
    models = [model for model in apps.get_models(include_auto_created=True) if model not in but]
    return {model._meta.label: sorted(model._default_manager.values_list(), key=repr) for model in models}


def changes(before: dict[str, list[Any]], *, but: tuple[type, ...] = (Session, AuditEntry)) -> dict[str, list[Any]]:
    """The tables whose rows are not what they were, with the rows that are new."""
    labels = {model._meta.label for model in but}
    now = record()
    return {name: [row for row in now[name] if row not in rows] or ["fewer"] for name, rows in before.items()
            if name not in labels and now[name] != rows}  # fmt: skip


@contextmanager
def undone() -> Iterator[None]:
    """What happens inside is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def seen(answer: HttpResponse) -> tuple[int, bytes]:
    """The status and the body, without the tokens that differ from page to page, and without the reader's own number."""
    return answer.status_code, re.sub(rb'data-user="\d*"', b"", TOKEN.sub(rb"\1", answer.content))
