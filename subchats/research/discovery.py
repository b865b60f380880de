"""The local discovery of a team: asked before explorers read, and its answers say what they may do then (A-35)."""

import os
from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction

from assistants.documents.merge import Hit
from assistants.documents.methods import Diagnostic
from assistants.documents.roots import roots_for
from assistants.documents.searching import document_name
from assistants.errors import CodedError
from assistants.models import Document, DocumentRoot, Thread
from subchats.models import LocalDiscovery, ResearchRun

from .answer_pack import DIRECT, Pack, PackInvalid, Policy, as_json, from_json, merge_packs, parse_pack
from .find_command import FindFailed, run_find

METHOD = "discovery"
SHOWN_CHARS = 500


def command_for(thread: Thread) -> str:
    """The command of the conversation's team; empty where there is none, which is the default."""
    row = LocalDiscovery.objects.filter(tenant=thread.tenant_id, enabled=True).first()
    return row.command if row else ""


def policy_of(run: ResearchRun | None) -> Policy:
    """What this research has learned from the discovery so far."""
    return from_json(run.discovery) if run else Policy()


def discovery_hits(thread: Thread, query: str, limit: int) -> list[Hit]:
    """The documents that the command names, the best first; a find more for the research that is under way.

    Raises `DISCOVERY_OFF`, and `DISCOVERY_FAILED` when it answered for no folder: then its rules do not count any more.
    """
    command = command_for(thread)
    if not command:
        raise CodedError(code="DISCOVERY_OFF", message="This team has no local discovery.", correctable=False)
    run = ResearchRun.objects.filter(turn__thread=thread, finished=None).order_by("-pk").first()
    before = policy_of(run)
    if before.finds and before.stop and before.action == DIRECT:
        return _hits(roots_for(thread), list(before.answers), limit)
    roots = roots_for(thread)
    packs, failed = _ask(command, roots, query)
    answers = list(_known(roots, [document_name(root, path) for root, pack in packs for path in pack.paths]))
    if run is not None:
        _keep(run, [pack for _, pack in packs], answers, failed)
    if roots and not packs:
        raise CodedError(code="DISCOVERY_FAILED", message="The local discovery gave no answer for any folder.")
    return _hits(roots, answers, limit)


def check_raw(thread: Thread, run: ResearchRun | None, tool: str, document: str = "") -> None:
    """Lets an explorer's tool run only as the discovery allows. Raises `DISCOVERY_FIRST`, `DISCOVERY_FORBIDS`."""
    if run is None or not command_for(thread):
        return
    check_asked(thread, run)
    policy = policy_of(run)
    if not policy.allows(tool, document):
        raise CodedError(
            code="DISCOVERY_FORBIDS",
            message=f"The local discovery does not allow {tool} here: {_in_words(policy)}.",
            fix=f"Read what it named, by exactly these names: {', '.join(policy.answers[:20]) or 'nothing'}.",
            correctable=False,
        )


def check_asked(thread: Thread, run: ResearchRun) -> None:
    """Nobody is sent into folders before the discovery was asked. Raises `DISCOVERY_FIRST`."""
    if command_for(thread) and not policy_of(run).finds:
        raise CodedError(
            code="DISCOVERY_FIRST",
            message="This team has a local discovery, which is asked before anybody reads in folders.",
            fix=f"Call retrieve with the method {METHOD} first.",
        )


def tell_policy(policy: Policy) -> dict[str, object]:
    """What an orchestrator is told of it together with the seeds."""
    return {
        "answerPaths": list(policy.answers),
        "handoffAction": policy.action,
        "finds": policy.finds,
        "available": policy.available,
        "agentShouldNotRerank": policy.keep_order,
        "rawReadingAllowed": policy.raw,
    }


def _ask(command: str, roots: list[DocumentRoot], query: str) -> tuple[list[tuple[DocumentRoot, Pack]], list[Diagnostic]]:
    """Each folder's answer, and what went wrong with the others. The folders are where they led when they were named."""
    packs, failed = [], []
    for root in roots:
        try:
            real = _pinned(root)
            packs.append((root, parse_pack(run_find(command, root=real, query=query), real)))
        except (FindFailed, PackInvalid) as error:
            failed.append(Diagnostic("jikji-find-failed", "warning", f"The local discovery failed here. {error}", root.name))
    return packs, failed


def _pinned(root: DocumentRoot) -> str:
    real = os.path.realpath(root.path)
    if root.pinned and root.pinned.get("path") == root.path and root.pinned.get("real") != real:
        raise FindFailed("The folder leads elsewhere than it did.")
    if not os.path.isdir(real):
        raise FindFailed("The folder is not there.")
    return real


def _keep(run: ResearchRun, packs: list[Pack], answers: list[str], failed: list[Diagnostic]) -> None:
    with transaction.atomic():
        kept = ResearchRun.objects.select_for_update().get(pk=run.pk)
        kept.discovery = as_json(merge_packs(packs, answers, finds=policy_of(kept).finds + 1))
        kept.save(update_fields=["discovery"])
        if failed:
            kept.diagnose([asdict(each) for each in failed])


def _known(roots: list[DocumentRoot], names: Sequence[str]) -> dict[str, Document]:
    """The documents of these names that were read in, in their order: nothing else is ever named."""
    found: dict[str, Document] = {}
    for root in roots:
        paths = [name.removeprefix(f"{root.name}/") for name in names if name.startswith(f"{root.name}/")]
        for document in Document.objects.filter(root=root, path__in=paths):
            found[document_name(root, document.path)] = document
    return {name: found[name] for name in names if name in found}


def _hits(roots: list[DocumentRoot], names: list[str], limit: int) -> list[Hit]:
    """Scored by their order, which is all that the command tells of them."""
    chosen = list(_known(roots, names).items())[:limit]
    return [
        Hit(name, "line 1", document.text[:SHOWN_CHARS], 1 - place / (len(chosen) + 1), METHOD, document.title)
        for place, (name, document) in enumerate(chosen)
    ]


def _in_words(policy: Policy) -> str:
    if policy.action == DIRECT:
        return "what it named is to be used as it is"
    return "it is to be asked once more before folders are looked through"
