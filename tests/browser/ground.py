"""The site that the browser visits: people, assistants that follow scripts, and conversations that have come to rest."""

import json
import sys
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.browser.archive import open_archive

SHOWCASE = r"""One product explains the jump: **B12345**, from 31 to 118 units. It costs $5 or $10 per return.

| SKU | W46 | W47 |
|:----|----:|----:|
| B12345 | 31 | 118 |
| B12346 | 11 | 15 |

The rate is $r = \frac{118}{31} \approx 3.8$, and

$$\sum_{i=1}^{n} x_i = 274$$

```python
def rate(before: int, after: int) -> float:
    # How many times as many.
    return round(after / before, 1)
```

- [x] counted
- [ ] told the supplier
"""
STORY = "".join(
    f"Paragraph {number} tells what happened in week {number} at the warehouse, at some length.\n\n" for number in range(1, 61)
)
ASK = {
    "name": "ask_clarifying_question",
    "arguments": {
        "question": "Which returns do you mean?",
        "options": ["Units sent back by customers", "Refund value in euros", "Supplier returns"],
    },
}
TWO = [
    {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Units returned per SKU, weeks 44 to 47"}},
    {"name": "invoke_assistant", "arguments": {"assistant": "freight", "task": "Share of parcels damaged in transit"}},
]
ONE_ASKS = [{"name": "invoke_assistant", "arguments": {"assistant": "buyer", "task": "Find the supplier of B12345"}}]
SLOW = [{"name": "invoke_assistant", "arguments": {"assistant": "reader", "task": "What customers wrote about B12345"}}]

MAIL = {
    "name": "send_email",
    "arguments": {
        "to": ["alice@apes.example"],
        "subject": "Returns in week 47",
        "body": "Hello,\n\n118 units of B12345 came back in week 47, after 31 in week 46.\n\nBest, the monkeys",
    },
}
IMPORT = {"workflowId": "import-documents"}
COLLECTED = {"workflowId": "data-to-chart", "nodeId": "figures", "completed": True, "note": "31 and 118 units"}
FOLLOW = [
    {"calls": [{"name": "get_graph_workflow", "arguments": IMPORT}]},
    {"calls": [{"name": "record_workflow_step", "arguments": COLLECTED}]},
    {"calls": [{"name": "get_workflow_progress", "arguments": IMPORT}]},
]
MAILED = [{"name": "invoke_assistant", "arguments": {"assistant": "mailer", "task": "Write to Alice about week 47"}}]

WEEKS = {
    "title": "Units returned by week",
    "columns": [{"name": "Week", "type": "text"}, {"name": "Units", "type": "number"}],
    "rows": [["46", 31], ["47", 118], ["48", None], ["49", 9]],
    "sources": ["person"],
}
KEEP = [{"name": "cache_assembled_table", "arguments": WEEKS}]
DRAW = [{"name": "make_chart", "arguments": {"pointer": "{{user}}", "kind": "bar", "x": "Week", "y": ["Units"]}}]

TEAM_STEPS = [
    {"description": "Returns of B12345 in both weeks", "specialist": "counter", "check": "One figure per week"},
    {"description": "Price of B12345", "specialist": "pricer", "check": "A price in euros"},
    {"description": "Who shipped the parcels", "specialist": "courier", "check": "The name of a carrier"},
    {"description": "What customers wrote", "specialist": "scribe", "check": "Three complaints, quoted"},
]
TEAM_TASKS = [
    {"assistant": each["specialist"], "task": f"Find out: {each['description']}", "label": each["description"]}
    for each in TEAM_STEPS
]
TEAM_WORK = [
    {"calls": [{"name": "write_plan", "arguments": {"steps": TEAM_STEPS}}]},
    {"calls": [{"name": "spawn_agents", "arguments": {"tasks": TEAM_TASKS}}]},
    {"calls": KEEP},
    {"calls": [{"name": "confirm_step", "arguments": {"index": 1, "evidence": "31 units in week 46 and 118 in week 47"}},
               {"name": "confirm_step", "arguments": {"index": 2, "evidence": "39.90 euros, says the price list"}}]},
    {"calls": [MAIL]},
    "118 units came back, at **39.90 euros** each. Who shipped them and what customers wrote is open.",
]  # fmt: skip
TEAM_TOOLS = ["write_plan", "confirm_step", "spawn_agents", "cache_assembled_table", "make_chart", "export_table"]
EXPORT = [{"name": "export_table", "arguments": {"pointer": "{{user}}", "format": "csv"}}]
BACK = {"whatIsNeeded": "Which carrier shipped B12345?", "whatIEstablished": "It was week 46.", "owningAgent": "freight"}
FORTY = " ".join(f"Complaint {number} is about the zip of the jacket." for number in range(1, 6))

SCRIPTS: dict[str, Any] = {
    "chief": {
        "rules": [
            {"when": {"user": "tbl_"}, "steps": [{"calls": DRAW}, {"calls": EXPORT}, "Chart and file are there."]},
            {"when": {}, "steps": TEAM_WORK},
        ]
    },
    "counter": {"steps": [{"text": "31 units in week 46 and 118 in week 47.", "first_ms": 2500}]},
    "pricer": {"steps": [{"text": "39.90 euros.", "first_ms": 3000}]},
    "courier": {"steps": [{"calls": [{"name": "hand_back", "arguments": BACK}], "first_ms": 2500}]},
    "scribe": {"steps": [{"text": f"{FORTY} And then", "delta_chars": len(FORTY), "delay_ms": 60_000}]},
    "lead": {
        "rules": [
            {"when": {"user": "ask me"}, "reply": {"text": "", "calls": [ASK]}},
            {"when": {"user": "my answer to"}, "reply": "Then I look at **units**."},
            {
                "when": {"user": "delegate"},
                "steps": [
                    {"text": "I split this into parts.", "calls": TWO},
                    {"text": "Stock counted 118 units.", "usage": [900, 40]},
                ],
            },
            {
                "when": {"user": "write a mail"},
                "steps": [{"text": "Here is what I would write.", "calls": [MAIL]}, "The mail is out."],
            },
            {"when": {"user": "have a mail written"}, "steps": [{"calls": MAILED}, "Logistics wrote."]},
            {"when": {"user": "keep a table"}, "steps": [{"calls": KEEP}, "It is kept."]},
            {"when": {"user": "tbl_"}, "steps": [{"calls": DRAW}, "It is drawn."]},
            {"when": {"user": "again from step"}, "reply": "Once more from there."},
            {"when": {"user": "follow the workflow"}, "steps": [*FOLLOW, "A person has to name the folder."]},
            {"when": {"user": "let a child ask"}, "steps": [{"calls": ONE_ASKS}, "The supplier is known."]},
            {"when": {"user": "slow child"}, "steps": [{"text": "One of us reads.", "calls": SLOW}, "Read."]},
            {
                "when": {"user": "what time"},
                "steps": [{"calls": [{"name": "current_time", "arguments": {"zone": "Europe/Berlin"}}]}, "Late."],
            },
            {
                "when": {"user": "look slowly"},
                "reply": {"text": "word by word " * 25, "delta_chars": 4, "delay_ms": 40, "calls": [{"name": "current_time"}]},
            },
            {"when": {"user": "showcase"}, "reply": {"text": SHOWCASE, "reasoning": "Compare the weeks first."}},
            {"when": {"user": "tell slowly"}, "reply": {"text": STORY, "delta_chars": 40, "delay_ms": 15}},
            {"when": {"user": "tell for ever"}, "reply": {"text": STORY, "repeat": 50, "delta_chars": 20, "delay_ms": 40}},
            {"when": {"user": "flood"}, "reply": {"text": STORY, "repeat": 40, "delta_chars": 200, "delay_ms": 0}},
            {"when": {"user": "fail"}, "reply": {"error": "MODEL_KEY_REFUSED"}},
            {"when": {"user": "wait for others"}, "reply": {"text": "Now then.", "first_ms": 6000}},
            {"when": {"user": "wait"}, "reply": {"text": "That took a while.", "first_ms": 1500}},
            {"when": {}, "reply": "You said: {{user}}"},
        ]
    },
    "stock": {"rules": [{"when": {}, "reply": "SKU B12345 rose from 31 to 118 units; every other SKU moved by less than 6."}]},
    "freight": {
        "rules": [
            {
                "when": {"results": 0},
                "reply": {
                    "calls": [
                        {
                            "name": "hand_back",
                            "arguments": {
                                "whatIsNeeded": "Which carrier shipped B12345 in week 46?",
                                "whatIEstablished": "The damage rate by carrier is known.",
                                "owningAgent": "stock",
                            },
                        }
                    ]
                },
            },
            {"when": {}, "reply": "Carrier K, 2 % damaged."},
        ]
    },
    "buyer": {
        "rules": [{"when": {"user": "my answer to"}, "reply": "It is Seam & Sons."}, {"when": {}, "reply": {"calls": [ASK]}}]
    },
    "mailer": {"steps": [{"calls": [MAIL]}, "I wrote to her."]},
    "reader": {"rules": [{"when": {}, "reply": {"text": STORY, "delta_chars": 30, "delay_ms": 60}}]},
}
ASSISTANTS = {
    "lead": ("Operations lead", "🐒", "Splits a question into parts and puts the answers together."),
    "stock": ("Returns desk", "📦", "Knows how many units came back, by SKU and week."),
    "freight": ("Logistics", "🚚", "Knows carriers, parcels and damage in transit."),
    "buyer": ("Purchasing", "🧵", "Knows suppliers and prices."),
    "mailer": ("Post", "✉️", "Writes mails."),
    "reader": ("Complaints reader", "🗂", "Reads what customers write."),
    "chief": ("Team lead", "🦧", "Plans, and has several work at once."),
    "counter": ("Counter", "🔢", "Counts returns."),
    "courier": ("Courier", "📮", "Follows parcels."),
    "pricer": ("Price list", "🏷", "Knows prices."),
    "scribe": ("Scribe", "✒️", "Writes out complaints."),
}


def write_scripts(folder: Path) -> None:
    """One JSON file per scripted model, where the server looks for them."""
    for name, script in SCRIPTS.items():
        (folder / f"{name}.json").write_text(json.dumps(script, ensure_ascii=False))


def build(out: str) -> None:
    """Fills the database and writes session keys and conversation ids to the file `out`."""
    from assistants.models import Assistant, LLMProfile, Membership, Tenant, User

    tenant = Tenant.objects.create(slug="apes", name="Apes")
    people = {name: User.objects.create_user(name, password="banana-split") for name in ("alice", "greta")}
    User.objects.filter(pk=people["alice"].pk).update(email="alice@apes.example")
    User.objects.filter(pk=people["alice"].pk).update(first_name="Alice", last_name="Ape", is_staff=True, is_superuser=True)
    User.objects.filter(pk=people["greta"].pk).update(language="de")
    for user in people.values():
        Membership.objects.create(user=user, tenant=tenant, role="admin")
    for slug, (name, avatar, description) in ASSISTANTS.items():
        profile = LLMProfile.objects.create(tenant=tenant, name=slug, provider="scripted", model=slug, makes_titles=False)
        tools = ["ask_clarifying_question", "current_time", *(["invoke_assistant", "spawn_agent"] if slug == "lead" else [])]
        tools += ["hand_back"] if slug in ("freight", "courier") else []
        tools += ["cache_assembled_table", "make_chart"] if slug == "lead" else []
        tools += ["get_graph_workflow", "get_workflow_progress", "record_workflow_step"] if slug == "lead" else []
        tools += ["send_email"] if slug in ("lead", "mailer", "chief") else []
        tools += TEAM_TOOLS if slug == "chief" else []
        Assistant.objects.create(
            tenant=tenant, slug=slug, name=name, avatar=avatar, description=description, tools=tools, profile=profile,
            instructions=f"You are {name}.", starters=["What time is it?", "Delegate the returns"] if slug == "lead" else [],
        )  # fmt: skip
    open_archive(tenant)
    Assistant.objects.filter(slug="chief").update(plan_approval="person")
    Assistant.objects.filter(slug="scribe").update(idle_seconds=2)
    made = {name: _converse(people["alice"], texts) for name, texts in CONVERSATIONS.items()}
    _make_long(made["long"])
    Path(out).write_text(json.dumps({"sessions": {n: _session(u) for n, u in people.items()}, "chats": made}))


CONVERSATIONS = {
    "showcase": ["Please showcase the returns", "ask me"],
    "cards": ["Delegate the returns", "fail"],
    "answered": ["ask me"],
    "long": ["Hello"],
}


def _converse(owner: Any, texts: list[str]) -> str:
    """One conversation with the lead, run here and now to its end."""
    from assistants.models import Assistant
    from assistants.turns import executors, lifecycle
    from assistants.turns.loop import run_turn

    # A team that prepared its site itself has the demo's lead, too.
    lead = Assistant.objects.get(slug="lead", tenant__slug="apes")
    thread = lifecycle.open_thread(lead, owner=owner, text=texts[0])
    for text in [None, *texts[1:]]:
        if text:
            lifecycle.send_message(thread, author=owner, text=text)
        while executors.rung:
            run_turn(executors.rung.pop(0))
    return thread.chat_id


def _make_long(chat_id: str) -> None:
    """Adds 400 messages, as if they had been said long ago."""
    from assistants.models import Message, Thread
    from assistants.turns.calls import add_message

    thread = Thread.objects.get(chat_id=chat_id)
    parent = thread.leaf
    for number in range(200):
        for role in (Message.Role.USER, Message.Role.ASSISTANT):
            parts = [{"type": "text", "text": f"{role} says something of **{number}** words.\n\n" * (number % 4 + 1)}]
            author = thread.owner if role == Message.Role.USER else None
            parent = add_message(thread.pk, role=role, parts=parts, parent=parent, author=author)
    thread.refresh_from_db()
    Thread.objects.filter(pk=thread.pk).update(leaf=parent, updated=thread.updated - timedelta(days=1))


def _session(user: Any) -> str:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


if __name__ == "__main__":
    import django

    django.setup()
    build(sys.argv[1])
