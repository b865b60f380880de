"""One token budget over a turn and everything that it started (section 7, P15)."""

from django.conf import settings
from django.db.models import Case, F, Sum, When

from assistants.models import Assistant, SpendEntry, Turn


def cap_of(root: Turn) -> int:
    """The tokens that the tree under this root turn may use; 0 means no bound."""
    assistant = Assistant.objects.filter(pk=root.thread.assistant_id).first() if root.thread.assistant_id else None
    own = assistant.turn_tokens if assistant else None
    base = settings.TASKMONKEY["TURN_TOKENS"] if own is None else own
    return base + root.extra_tokens if base else 0


def used_by(root: Turn) -> int:
    """The tokens that the tree has used, with what calls under way have reserved."""
    counted = Case(When(settled=None, then=F("reserved")), default=F("tokens"))
    return SpendEntry.objects.filter(root=root).aggregate(sum=Sum(counted))["sum"] or 0


def is_exhausted(turn: Turn) -> bool:
    """Whether the tree that this turn belongs to has used up its budget (J-13)."""
    root = turn.root or turn
    cap = cap_of(root)
    return bool(cap) and used_by(root) >= cap
