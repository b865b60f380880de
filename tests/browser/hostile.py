"""A team whose every text tries to become live: names, titles, messages, calls, results, notes."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.rendering.payloads import CODE, HTML, HTMX, IMAGES, PAYLOADS

# Names are short, so only what fits is tried there.
NAMES = [each for each in [*HTML, *HTMX] if len(each) <= 110 and "\0" not in each]
MOST = 24
AT_ONCE = 10


def chunks() -> list[str]:
    """All payloads, some of them together in one message."""
    return ["\n\n".join(PAYLOADS[start : start + AT_ONCE]) for start in range(0, len(PAYLOADS), AT_ONCE)]


def script() -> dict[str, Any]:
    """What the model streams: everything, with calls whose names and arguments are hostile too."""
    half = len(PAYLOADS) // 2
    calls = [
        {"name": "current_time", "arguments": {"zone": HTML[0], HTML[6]: HTMX[0]}},
        {"name": NAMES[6], "arguments": {NAMES[2]: NAMES[3], "text": IMAGES[0]}},
        {"name": "invoke_assistant", "arguments": {"assistant": "crew", "task": HTML[5], "context": HTML[30]}},
    ]
    first = {"text": "\n\n".join(PAYLOADS[:half]), "reasoning": "\n\n".join(NAMES), "calls": calls, "delta_chars": 23}
    second = {"text": "\n\n".join([*PAYLOADS[half:], *CODE[:4]]), "delta_chars": 23}
    return {
        "rules": [{"when": {"system": "You are the crew"}, "reply": "\n\n".join(NAMES)}, {"when": {}, "steps": [first, second]}]
    }


def build(out: Path, scripts: Path) -> None:
    """Fills the database, writes the script and, to `out`, the session of Mallory and the ids of her conversations."""
    from assistants.models import Assistant, Domain, LLMProfile, Membership, Tenant, User
    from tests.browser.ground import _session

    (scripts / "mallory.json").write_text(json.dumps(script()))
    tenant = Tenant.objects.create(slug="pirates", name=NAMES[0])
    mallory = User.objects.create_superuser("mallory", password="banana-split", first_name=NAMES[6], last_name=NAMES[12])
    Membership.objects.create(user=mallory, tenant=tenant, role="admin")
    profile = LLMProfile.objects.create(
        tenant=tenant, name=NAMES[3][:60], provider="scripted", model="mallory", makes_titles=False
    )
    domain = Domain.objects.create(tenant=tenant, slug="sea", name=NAMES[4])
    made = [
        Assistant.objects.create(
            tenant=tenant, slug=slug, name=name, avatar="<b>", description=f"{name}\n{HTMX[number % len(HTMX)]}", domain=domain,
            instructions=f"You are the crew. {name}" if slug == "crew" else name, profile=profile, starters=[name],
            tools=["current_time", "invoke_assistant"] if slug == "captain" else [],
        )
        for number, (slug, name) in enumerate(
            [("captain", NAMES[6]), ("crew", NAMES[7]), *((f"a{n}", each) for n, each in enumerate(NAMES[:MOST]))]
        )
    ]  # fmt: skip
    chats = {"hostile": _said(tenant, mallory, made[0]), "calls": _called(tenant, mallory, made)}
    for name in NAMES:
        _thread(tenant, mallory, made[1], title=name)
    out.write_text(json.dumps({"sessions": {"mallory": _session(mallory)}, "chats": chats}))


def _thread(tenant: Any, owner: Any, assistant: Any, **fields: Any) -> Any:
    from assistants.models import Thread

    return Thread.objects.create(tenant=tenant, owner=owner, assistant=assistant, title_by="person", **fields)


def _said(tenant: Any, owner: Any, assistant: Any) -> str:
    """Both sides say everything."""
    from assistants.turns.calls import add_message
    from assistants.turns.threads import set_leaf

    thread = _thread(tenant, owner, assistant, title=HTML[5])
    leaf = None
    for text in chunks():
        for role in ("user", "assistant"):
            parts = [{"type": "text", "text": text}, *([{"type": "reasoning", "text": text}] if role == "assistant" else [])]
            leaf = add_message(thread.pk, role=role, parts=parts, parent=leaf, author=owner if role == "user" else None)
    set_leaf(thread.pk, leaf)
    return str(thread.chat_id)


def _called(tenant: Any, owner: Any, assistants: list[Any]) -> str:
    """Calls, results, questions, sub-chats and ends of turns, each with a hostile text in every field."""
    from assistants.models import ToolCall, Turn
    from assistants.turns.calls import add_message
    from assistants.turns.threads import set_leaf
    from subchats.models import Delegation

    thread = _thread(tenant, owner, assistants[0], title=HTMX[0])
    leaf = None
    for number, text in enumerate(NAMES):
        user = leaf = add_message(thread.pk, role="user", parts=[{"type": "text", "text": text}], parent=leaf, author=owner)
        state = ("done", "failed", "stopped")[number % 3]
        turn = Turn.objects.create(
            thread=thread, user_message=user, state=state, reason=text[:60], note=text, profile_label=text
        )
        leaf = add_message(thread.pk, role="assistant", parts=[], parent=user, turn=turn)
        common = {"turn": turn, "message": leaf, "round": 0, "state": "settled", "settled_by": text[:80]}
        result = json.dumps({"success": False, "reply": text, "error": text, "sub_chat_id": text, "tools_used": [text]})
        ToolCall.objects.create(**common, index=0, name=text, arguments={text: text}, outcome="ok", result=text)
        ToolCall.objects.create(
            **common, index=1, name="current_time", arguments={"zone": [text]}, outcome="error", result=text, code=text[:60]
        )
        asked = {"question": text, "options": [text, f"{text}2"]}
        ToolCall.objects.create(
            **common, index=2, name="ask_clarifying_question", arguments=asked, outcome="ok", result="{}",
            answer={"chosen": [text], "text": text, "plain": False, "by": text, "at": "2026-01-01T00:00:00+00:00"},
        )  # fmt: skip
        invoked = {"assistant": "crew", "task": text, "context": text}
        call = ToolCall.objects.create(
            **common, index=3, name="invoke_assistant", arguments=invoked, outcome="ok", result=result
        )
        child = _thread(
            tenant, owner, assistants[2 + number % MOST], title=text, parent=thread, root=thread, parent_message=leaf,
            chat_id=f"sub_{thread.chat_id}_{number:08x}",
        )  # fmt: skip
        Delegation.objects.create(call=call, child=child, kind="invoke", task=text)
        said = add_message(child.pk, role="assistant", parts=[{"type": "text", "text": text}])
        set_leaf(child.pk, said)
    set_leaf(thread.pk, leaf)
    return str(thread.chat_id)


if __name__ == "__main__":
    import django

    django.setup()
    build(Path(sys.argv[1]), Path(sys.argv[2]))
