"""What feedback teaches: signals with caps, insights out of old ones, and hints that only nudge an order (A-38, A-39)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from assistants.models import Tenant
from subchats.models import CuratedResult, Evidence, ResearchInsight, ResearchSignal

MAX_SIGNALS = 500
MAX_INSIGHTS = 200
BATCH = 100
"""Old signals are turned into insights so many at a time."""
IMPLICIT = {ResearchSignal.Kind.FOLLOW_UP: 0.25, ResearchSignal.Kind.RETRY: -0.25}
IMPLICIT_CAP = 0.5
"""What all implicit signals together may say of one piece of evidence."""
FEWEST, LOWEST_SCORE = 5, 3.0
"""An insight takes so many signals, one of them explicit, and so much agreement."""
SURE = 5
"""Signals from which on a hint is fully trusted."""


@dataclass(frozen=True)
class Hint:
    """What is known of a source: `preference` from -1 (bad) to 1 (good), `confidence` from 0 to 1."""

    preference: float
    confidence: float

    @property
    def nudge(self) -> float:
        """What an order is to make of it, -1 to 1."""
        return self.preference * self.confidence


def remember_feedback(result: CuratedResult, useful: int) -> None:
    """Keeps a person's word on a result, shared evenly among its evidence; a later word takes the place of an earlier one."""
    with transaction.atomic():
        tenant = _locked(result.run.turn.thread.tenant_id)
        ResearchSignal.objects.filter(tenant=tenant, result=result, kind=ResearchSignal.Kind.FEEDBACK).delete()
        evidence = list(result.evidence.all())
        if useful and evidence:
            _keep(tenant, evidence, ResearchSignal.Kind.FEEDBACK, useful / len(evidence), result=result)
        _make_room(tenant)


def remember_implicit(evidence: Iterable[Evidence], kind: str) -> None:
    """Keeps what somebody did as a small sign: asked further from there, or asked for another answer."""
    kept = list(evidence)
    if not kept:
        return
    with transaction.atomic():
        tenant = _locked(kept[0].run.turn.thread.tenant_id)
        said: dict[str, float] = defaultdict(float)
        for stable_id, weight in _implicit(tenant, [each.stable_id for each in kept]):
            said[stable_id] += weight
        weight = IMPLICIT[ResearchSignal.Kind(kind)]
        open_to = [each for each in kept if abs(said[each.stable_id] + weight) <= IMPLICIT_CAP]
        _keep(tenant, open_to, kind, weight, result=None)
        _make_room(tenant)


def hints_for(tenant: Tenant, sources: Iterable[str] | None = None) -> dict[str, Hint]:
    """What is known of these sources, or of all; one of which nothing is known is left out. Never a reason to leave a
    method out."""
    scores: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    wanted = {} if sources is None else {"source__in": list(dict.fromkeys(sources))}
    for source, weight in ResearchSignal.objects.filter(tenant=tenant, **wanted).values_list("source", "weight"):
        scores[source] += weight
        counts[source] += 1
    insights = ResearchInsight.objects.filter(tenant=tenant, **wanted)
    for source, score, signals in insights.values_list("source", "score", "signals"):
        scores[source] += score
        counts[source] += signals
    return {
        source: Hint(preference=max(-1.0, min(1.0, scores[source] / count)), confidence=min(1.0, count / SURE))
        for source, count in counts.items()
    }


def _locked(tenant_id: int) -> Tenant:
    return Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)


def _implicit(tenant: Tenant, stable_ids: list[str]) -> list[tuple[str, float]]:
    found = ResearchSignal.objects.filter(tenant=tenant, explicit=False, stable_id__in=stable_ids)
    return list(found.values_list("stable_id", "weight"))


def _keep(tenant: Tenant, evidence: Iterable[Evidence], kind: str, weight: float, *, result: CuratedResult | None) -> None:
    ResearchSignal.objects.bulk_create(
        ResearchSignal(
            tenant=tenant,
            kind=kind,
            result=result,
            stable_id=each.stable_id,
            source=each.source,
            method=each.method,
            weight=weight,
            explicit=kind == ResearchSignal.Kind.FEEDBACK,
        )
        for each in evidence
    )


def _make_room(tenant: Tenant) -> None:
    """Turns the oldest signals into insights, a batch at a time, once there are more than may be kept."""
    while (over := ResearchSignal.objects.filter(tenant=tenant).count() - MAX_SIGNALS) > 0:
        oldest = list(ResearchSignal.objects.filter(tenant=tenant)[: max(over, BATCH)])
        _learn(tenant, oldest)
        ResearchSignal.objects.filter(pk__in=[each.pk for each in oldest]).delete()
    newest = ResearchInsight.objects.filter(tenant=tenant).order_by("-pk").values("pk")[:MAX_INSIGHTS]
    ResearchInsight.objects.filter(tenant=tenant).exclude(pk__in=list(newest.values_list("pk", flat=True))).delete()


def _learn(tenant: Tenant, signals: list[ResearchSignal]) -> None:
    groups: dict[tuple[str, str], list[ResearchSignal]] = defaultdict(list)
    for signal in signals:
        groups[signal.source, signal.method].append(signal)
    for (source, method), group in groups.items():
        score = sum(each.weight for each in group)
        if len(group) >= FEWEST and any(each.explicit for each in group) and abs(score) >= LOWEST_SCORE:
            ResearchInsight.objects.create(tenant=tenant, source=source, method=method, score=score, signals=len(group))
