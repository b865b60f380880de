"""A research in two tiers, as the one who judges: sends explorers out, weighs what they bring, ends with numbered results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .exploring import END, START
from .findings import Finding, beside_best, is_answered, rank_findings, spread_out
from .passages import Passage
from .phrases import phrase
from .queries import KINDRED, queries_of_round
from .quoting import render_words
from .refusals import one_line
from .steps import Call
from .talk import Talk
from .wish import Wish, make_wish
from .words import kindred_texts, strong

MAX_RESULTS = 5
ROUNDS = 2
METHOD = "posix"
RELEVANCES = ("strong", "moderate", "weak")
MAX_SEEDS, MAX_EXPLORERS = 8, 8
_LINE = re.compile(r"\blines? (\d+)")


@dataclass(frozen=True)
class Brought:
    """A piece of evidence that an explorer brought and the platform looked up."""

    stable_id: str
    source: str
    excerpt: str
    line: int
    relevance: str
    heading: str = ""


def next_calls(talk: Talk) -> tuple[Call, ...]:
    """The next call of a research: explorers with more wordings, else the results. Empty when nothing can be ended with."""
    wish = make_wish(talk.now.asked, talk.language)
    brought = evidence_of(talk)
    ranked = _ranked(wish, brought)
    if seeding := _seeding(wish, talk):
        return (seeding,)
    sent = sum(1 for each in talk.now.results if each.tool == "subagent")
    answered = is_answered(wish, [finding for finding, _ in ranked])
    call = _dispatch(wish, talk, sent) if sent < ROUNDS and not answered else None
    if call:
        return (call,)
    best = spread_out(beside_best(wish, [finding for finding, _ in ranked]), most=MAX_RESULTS)
    chosen = [each for finding in best for known, each in ranked if known is finding] or list(brought)[:MAX_RESULTS]
    return _emission(chosen, talk, good=answered) if chosen else ()


def evidence_of(talk: Talk) -> tuple[Brought, ...]:
    """All evidence in the reports of this turn, each piece once."""
    found: dict[str, Brought] = {}
    for result in talk.now.results:
        reports = result.data.get("reports") if result.tool == "subagent" else None
        for report in reports if isinstance(reports, list) else ():
            for item in brought_in(report):
                found.setdefault(item.stable_id, item)
    return tuple(found.values())


def brought_in(report: Any) -> list[Brought]:
    """The evidence in one explorer's report; nothing in one that is no handoff."""
    try:
        data = json.loads(report["reply"])
        return [
            Brought(
                each["evidenceId"],
                each["source"],
                each["excerpt"],
                each["lineNumber"] or 0,
                each["relevance"],
                _heading(each.get("locator") or ""),
            )
            for each in data["candidates"]
        ]
    except (ValueError, KeyError, TypeError):
        return []


def _heading(locator: str) -> str:
    """What stands over the words, if the explorer named it behind the line; a page may be named before that."""
    return re.sub(r"^(?:.*?, )??lines? \d+(?:, |$)", "", locator)


def _ranked(wish: Wish, brought: Sequence[Brought]) -> list[tuple[Finding, Brought]]:
    """What answers first, as the explorer saw it in its section; what carries nothing of the question is left out."""
    passages = {
        Passage(
            document=each.source, text=each.excerpt, title=each.heading, first_line=each.line, last_line=each.line, rank=place
        ): each
        for place, each in enumerate(brought)
    }
    found = [(finding, passages[finding.passage]) for finding in rank_findings(wish, tuple(passages))]
    return sorted(found, key=lambda pair: RELEVANCES.index(pair[1].relevance) if pair[1].relevance in RELEVANCES else 1)


def _seeding(wish: Wish, talk: Talk) -> Call | None:
    """The one search before anybody is sent out: it names places, and whoever is sent out reads there first (A-12).

    With the words of the other language, in which the documents may be written.
    """
    if talk.called("retrieve"):
        return None
    other = 1 if talk.language == "en" else 0
    abroad = [text for word in strong(wish.searched) for text in kindred_texts(word)[other][:KINDRED]]
    arguments = talk.offers.fit("retrieve", query=" ".join([wish.subject or talk.now.asked, *dict.fromkeys(abroad)]))
    return Call("retrieve", arguments) if arguments else None


def _folders(talk: Talk) -> list[str]:
    """Where explorers are sent: as many folders as may be looked through at once, those first in which something was found."""
    every = [str(each) for each in talk.offers.properties("subagent").get("cwd", {}).get("enum", [])]
    return sorted(every, key=lambda folder: not _seeds(talk, folder))[:MAX_EXPLORERS]


def _seeds(talk: Talk, folder: str) -> list[str]:
    """The places in a folder that the search has named, as lines of a task."""
    found = [each for result in talk.now.results if result.tool == "retrieve" for each in result.data.get("results", ())]
    lines: dict[str, None] = {}
    for each in found:
        source = str(each.get("source", ""))
        for passage in each.get("passages", ())[:2] if source.startswith(f"{folder}/") else ():
            line = _LINE.search(str(passage.get("place", "")))
            lines[f"- {source}, line {line[1] if line else 1}"] = None
    return list(lines)[:MAX_SEEDS]


def _dispatch(wish: Wish, talk: Talk, sent: int) -> Call | None:
    """One explorer for each folder, with wordings that were not tried before."""
    folders = _folders(talk)
    asked = talk.now.asked
    before: list[str] = []
    for number in range(sent + 1):
        missing = [word.text for word in wish.searched] if number else []
        wordings = queries_of_round(number, wish, missing=missing, found_any=False, before=before)
        before += wordings
    fresh = wordings or ((asked,) if not sent else ())
    if not fresh or not folders:
        return None
    body = json.dumps({"originalQuery": asked, "method": METHOD, "queryVariants": list(fresh)}, ensure_ascii=False)
    block = "\n".join((START, body, END))
    leaves = [
        {"agent": "autorag-explorer", "cwd": folder, "task": "\n".join((block, *_seeds(talk, folder)))} for folder in folders
    ]
    arguments = {"agentScope": "user", "artifacts": False, **({"tasks": leaves} if len(leaves) > 1 else leaves[0])}
    return None if talk.result_of("subagent", arguments) else Call("subagent", arguments)


def _emission(chosen: Sequence[Brought], talk: Talk, *, good: bool) -> tuple[Call, ...]:
    numbered = list(enumerate(chosen, 1))
    quotes = "\n\n".join(render_words(each.excerpt, number) for number, each in numbered)
    arguments: Mapping[str, Any] = {
        "answer": f"{phrase(talk.language, 'found' if good else 'found_near')}\n\n{quotes}",
        "results": [_result(number, each, good=good) for number, each in numbered],
        "mapping": [_entry(number, each) for number, each in numbered],
    }
    if "emit_autorag_results" not in talk.offers or talk.result_of("emit_autorag_results", arguments):
        return ()
    return (Call("emit_autorag_results", arguments),)


def _result(number: int, brought: Brought, *, good: bool) -> dict[str, Any]:
    excerpt = {"excerpt": brought.excerpt, **({"lineNumber": brought.line} if brought.line else {})}
    return {
        "number": number,
        "title": one_line(brought.source.rsplit("/", 1)[-1], 120),
        "summary": one_line(brought.excerpt, 300),
        "evidence": [excerpt],
        "confidence": (0.9 if brought.relevance == "strong" else 0.6) if good else 0.3,
    }


def _entry(number: int, brought: Brought) -> dict[str, Any]:
    reference = {"stableEvidenceId": brought.stable_id, "excerpt": brought.excerpt, "source": brought.source}
    return {
        "number": number,
        "source": brought.source,
        "method": METHOD,
        "content": brought.excerpt,
        "evidenceRefs": [reference],
    }
