"""What the ledger of a tree must always say (P15, I10)."""

from django.db.models import Case, F, Sum, When

from assistants import clock
from assistants.models import SpendEntry, Turn
from assistants.turns import budget


def spent(root: Turn) -> int:
    """What the tree under this turn has paid for."""
    return SpendEntry.objects.filter(root=root).exclude(settled=None).aggregate(sum=Sum("tokens"))["sum"] or 0


def used_by(root: Turn) -> int:
    """The tokens that the tree has used, with what calls under way have reserved."""
    counted = Case(When(settled=None, then=F("reserved")), default=F("tokens"))
    return SpendEntry.objects.filter(root=root).aggregate(sum=Sum(counted))["sum"] or 0


def check(root: Turn) -> None:
    """Nothing is left open, and ledger and turns say the same, turn by turn."""
    tree = [root, *Turn.objects.filter(root=root)]
    assert not SpendEntry.objects.filter(root=root, settled=None).exists()
    for turn in tree:
        turn.refresh_from_db()
        paid = SpendEntry.objects.filter(turn=turn).aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
        assert turn.input_tokens + turn.output_tokens == (paid["tokens"] or 0)
        assert turn.cost == (paid["cost"] or 0)
        assert turn.model_calls == SpendEntry.objects.filter(turn=turn).count()
    total = Turn.objects.filter(pk__in=[each.pk for each in tree]).aggregate(sum=Sum(F("input_tokens") + F("output_tokens")))
    assert spent(root) == (total["sum"] or 0)


def largest_call(root: Turn) -> int:
    return max([*SpendEntry.objects.filter(root=root).values_list("tokens", flat=True), budget.LAST_WORD_OUTPUT])


def pay(turn: Turn, tokens: int) -> SpendEntry:
    """A model call of this turn that used so many tokens."""
    thread = turn.thread
    root = turn.root or turn
    Turn.objects.filter(pk=turn.pk).update(input_tokens=F("input_tokens") + tokens, model_calls=F("model_calls") + 1)
    now = clock.now()
    return SpendEntry.objects.create(
        root=root, turn=turn, round=0, attempt=1, reserved=tokens, tokens=tokens, settled=now, created=now,
        tenant=thread.tenant, user=thread.owner, assistant=thread.assistant,
    )  # fmt: skip
