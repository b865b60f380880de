"""One person with one of everything that a person can leave anywhere, and a look through every table for what is left."""

from dataclasses import dataclass
from pathlib import Path

from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from assistants.access import audit
from assistants.conversations.forks import fork_thread
from assistants.models import AssistantVersion, Budget, SpendEntry, Thread, ThreadShare, ToolCall, User
from assistants.turns import lifecycle
from subchats.models import CuratedResult, ExplorerTask, Plan, ResearchInsight, ResearchSignal, WorkflowRecord
from tests.kit.browsers import signed_in
from tests.kit.turns import last_turn, run_all
from tests.kit.world import World
from tests.probes import town

WORDS = "marzipan4711"
NAMES = ("alicia_4711", "Alicia Zuckerhut", "alicia@zuckerhut.example")
# What a team has of its own, in which the same words stand.
TEAMS = ("assistants_document", "assistants_passage", "subchats_workflow", "assistants_llmprofile", "assistants_assistant")


@dataclass
class Estate:
    ground: World
    belongings: town.Belongings
    fork: Thread
    number: int
    outbox: Path


def build(ground: World, monkeypatch, outbox: Path) -> Estate:
    monkeypatch.setattr(town, "CANARY", WORDS)
    ask = {"name": "ask_clarifying_question", "arguments": {"question": f"Which {WORDS}?", "options": ["Red", "Blue"]}}
    delegate = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": f"Count every {WORDS}"}}
    monkeypatch.setattr(town, "ASK", ask)
    monkeypatch.setattr(town, "DELEGATE", delegate)
    alice = ground.alice
    alice.username, alice.email = NAMES[0], NAMES[2]
    alice.first_name, alice.last_name = NAMES[1].split()
    alice.is_staff = True
    alice.save()
    mine = town._belongings(ground, ground.lead, alice)
    connection.run_on_commit.clear()
    _share_and_copy(ground, mine)
    _decide(ground, mine, alice)
    _administer(ground, alice)
    _teach(mine)
    alice.groups.add(Group.objects.create(name="pickers"))
    alice.user_permissions.add(Permission.objects.first())
    signed_in(alice)
    outbox.mkdir(parents=True, exist_ok=True)
    (outbox / "1.log").write_text(f"Reply-To: {NAMES[2]}\nSubject: {WORDS}\n\nHello\n")
    (outbox / "2.log").write_text("Reply-To: bob@example.org\nSubject: Else\n\nHello\n")
    return Estate(ground, mine, Thread.objects.get(owner=ground.bob, parent=None), alice.pk, outbox)


def _share_and_copy(ground: World, mine: town.Belongings) -> None:
    """Bob reads a conversation of hers in which nothing stands but her name, and keeps a copy."""
    ground.script({"steps": ["Plain."], "forever": True})
    shared = ground.open("Plain words")
    run_all()
    ThreadShare.objects.create(thread=shared, user=ground.bob)
    ThreadShare.objects.create(thread=mine.thread, user=ground.rita)
    stopped = ground.open("Stop this")
    lifecycle.stop_turn(last_turn(stopped).pk, by=NAMES[1])
    fork = fork_thread(shared.messages.filter(role="assistant").get(), owner=ground.bob)
    call = ToolCall.objects.create(
        turn=last_turn(fork), round=5, index=0, name="current_time", state="settled", outcome="ok", settled_by=NAMES[1]
    )
    call.answer, call.approval = {"by": NAMES[1], "chosen": []}, {"by": NAMES[1], "state": "used"}
    call.save()
    fork.turns.update(note=f"Stopped by {NAMES[1]}.")
    theirs = ground.open("Bob's own", owner=ground.bob, assistant=ground.assistant("second", script=["Yes."]))
    ThreadShare.objects.create(thread=theirs, user=ground.alice)
    theirs.delete()


def _decide(ground: World, mine: town.Belongings, alice: User) -> None:
    Plan.objects.update(approved_by=alice, changed_by=alice)
    WorkflowRecord.objects.create(root=mine.thread, workflow="w", node="n", completed=True, note=WORDS, user=alice)
    SpendEntry.objects.create(
        root=mine.turn, turn=mine.turn, round=7, attempt=1, reserved=5, tokens=1000, cost="0.5", tenant=ground.apes,
        user=alice, assistant=ground.lead, created=mine.turn.created, settled=mine.turn.created,
    )  # fmt: skip
    Budget.objects.create(tenant=ground.apes, scope="user", user=alice, hard=10)


def _administer(ground: World, alice: User) -> None:
    AssistantVersion.objects.create(assistant=ground.lead, number=77, definition={}, changed_by=alice)
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(user=alice, content_type=kind, object_id="9", object_repr="bob", action_flag=CHANGE)
    LogEntry.objects.create(
        user=ground.bob, content_type=kind, object_id=str(alice.pk), object_repr=NAMES[0], action_flag=CHANGE
    )
    said = f'[{{"changed": {{"name": "member", "object": "{NAMES[0]} in Apes (member)"}}}}]'
    LogEntry.objects.create(
        user=ground.bob, content_type=kind, object_id="1", object_repr="Apes", action_flag=CHANGE, change_message=said
    )
    audit("user.changed", tenant_id=ground.apes.pk, user=alice, target=NAMES[2], name=f"{NAMES[1]} ({NAMES[0]})")
    audit("share", tenant_id=ground.apes.pk, user=alice, target="chat1", reader=3)


def _teach(mine: town.Belongings) -> None:
    """She said of two results whether they were of use; of one of them long ago, so that only a sum of many is left."""
    run = mine.turn.research
    ExplorerTask.objects.create(run=run, call=mine.question, position=0, query=WORDS, method="posix", text=WORDS)
    result = CuratedResult.objects.get(run=run)
    tenant = mine.thread.tenant
    ResearchSignal.objects.create(
        tenant=tenant, kind="feedback", result=result, stable_id="e1", source=WORDS, method="posix", weight=1, explicit=True
    )
    ResearchInsight.objects.create(tenant=tenant, source="handbook", method="posix", score=1, signals=20)


def kinds_that_name_people() -> set[str]:
    """Every model that points at a person, or hangs below a conversation: one row of each must be in the estate."""
    below, found = {Thread}, set()
    for model in apps.get_models():
        if any(field.related_model is User for field in model._meta.get_fields() if field.concrete and field.is_relation):
            found.add(model._meta.label)
    while True:
        more = {
            model
            for model in apps.get_models()
            for field in model._meta.concrete_fields
            if field.is_relation and field.related_model in below and field.remote_field.on_delete.__name__ == "CASCADE"
        }
        if more <= below:
            return found | {model._meta.label for model in below}
        below |= more


def leftovers(*texts: str, but: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Where in any table of the database one of the texts stands: table and text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith(but):
                continue
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                line = "\0".join(
                    bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | memoryview) else str(value)
                    for value in row
                )
                found += [(table, text) for text in texts if text in line]
    return found


def who_points_at(number: int) -> list[tuple[str, str]]:
    """Rows of any model whose field for a person still holds this number."""
    return [
        (model._meta.label, field.name)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.concrete_fields
        if field.related_model is User and model._default_manager.filter(**{field.name: number}).exists()
    ]


__all__ = ["NAMES", "TEAMS", "WORDS", "Estate", "build", "kinds_that_name_people", "leftovers", "who_points_at"]
