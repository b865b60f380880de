"""A sub-task that a child gives back: what is needed, what is known, and who might own it (J-22 to J-25)."""

from dataclasses import asdict, dataclass

from assistants.models import Assistant, Thread
from assistants.models.definition import definition_of
from subchats.models import Delegation

from .roster import delegates_of

NOT_STATED, NOTHING = "Not stated.", "nothing"
# The tools that call an assistant by its name.
INVOKERS = ("invoke_assistant", "spawn_agents")


@dataclass(frozen=True)
class HandBack:
    """What goes up. `owner` is empty unless an assistant of that name exists; `note` says when a name was dropped."""

    needed: str
    established: str
    owner: str
    note: str


def make_hand_back(thread: Thread, *, needed: str, established: str, owner: str) -> HandBack:
    """Checks the named owner against the tenant's assistants; an invented one is dropped with a note (J-25)."""
    owner, note = owner.strip(), ""
    if owner and not Assistant.objects.enabled().filter(tenant_id=thread.tenant_id, slug=owner).exists():
        owner, note = "", f"The named owner “{owner[:80]}” does not exist and was dropped."
    elif owner and owner == definition_of(thread).slug:
        # Whoever is asked again would hand it back again.
        owner, note = "", f"The named owner “{owner[:80]}” is the one that handed it back, and was dropped."
    return HandBack(needed=needed.strip() or NOT_STATED, established=established.strip() or NOTHING, owner=owner, note=note)


def store_hand_back(delegation: Delegation, hand_back: HandBack) -> None:
    """Keeps the hand-back until the child's turn, which it ends, is delivered."""
    delegation.hand_back = asdict(hand_back)
    delegation.save(update_fields=["hand_back"])


def hand_back_error(delegation: Delegation) -> str:
    """The instruction to whoever delegated: route it to its owner, or hand it on; never end without a reply (J-20)."""
    back = HandBack(**(delegation.hand_back or {}))
    fix = _next_step(back, delegation.child.parent)
    lines = [
        f"[HANDED_BACK] field=- fix={fix}",
        f"The sub-task was handed back. Needed: {back.needed}",
        f"Established: {back.established}",
        *([f"Owner: {back.owner}"] if back.owner else []),
        *([back.note] if back.note else []),
        "Act on it now. Ending this turn without a reply is not a valid way to act on a hand-back.",
    ]
    return "\n".join(lines)


def _next_step(back: HandBack, above: Thread | None) -> str:
    """What the assistant above can really do: call the owner, hand the task back itself, or answer."""
    assert above is not None
    definition = definition_of(above)
    callers = [name for name in INVOKERS if name in definition.tools]
    if back.owner and callers and back.owner in {each.slug for each in delegates_of(definition, above)}:
        return f"Call {back.owner} now with the question below, by {callers[0]}."
    if above.parent_id is not None and "hand_back" in definition.tools:
        return "It belongs to nobody you can call: hand it back further with hand_back, passing on what is established."
    if callers and not back.owner:
        return "Route it to one of your own assistants that fits, or answer with what is established and say what is open."
    return "It belongs to nobody you can call: answer with what is established, and say what is open and who could know."
