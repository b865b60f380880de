"""A research in two tiers, as the one who reads: greps for every wording, reads around the hits, hands quotes over."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assistants import clock

from .findings import FAINT, FAIR, Finding, rank_findings, spread_out
from .language import detect_language
from .passages import Passage, passages_of
from .steps import Call
from .talk import Talk
from .wish import Wish, make_wish
from .words import content_words, fold, kindred_texts, strong

START, END = "<<<AUTORAG_ASSIGNMENT_V1>>>", "<<<END_AUTORAG_ASSIGNMENT_V1>>>"
MAX_DOCUMENTS, MAX_CANDIDATES = 12, 8
WINDOW = 80
"""Lines that are read around the best hit of a document."""
_BLOCK = re.compile(rf"^{re.escape(START)}\s*$(?P<body>.*?)^{re.escape(END)}\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Task:
    """The question as it was asked, the way to look, and the wordings to try."""

    query: str
    method: str
    variants: tuple[str, ...]


def find_task(talk: Talk) -> Task | None:
    """The assignment of an explorer; None for everybody else."""
    block = _BLOCK.search(talk.now.asked) if "grep" in talk.offers else None
    if block is None:
        return None
    try:
        data = json.loads(block["body"])
        return Task(str(data["originalQuery"]), str(data["method"]), tuple(map(str, data["queryVariants"])))
    except (ValueError, KeyError, TypeError):
        return None


def next_readings(task: Task, talk: Talk) -> tuple[Call, ...]:
    """What is still to be looked through: all words, kindred ones if those are nowhere, then the best places."""
    wish = _wish(task)
    patterns = [_pattern([word.text for word in strong(wish.searched) or wish.searched])]
    patterns.append(_pattern([text for word in wish.searched for half in kindred_texts(word) for text in half]))
    matches: list[dict[str, Any]] = []
    for pattern in filter(None, patterns):
        arguments = talk.offers.fit("grep", pattern=pattern) or {}
        found = talk.result_of("grep", arguments)
        if found is None:
            return (Call("grep", arguments),)
        matches += [each for each in found.data.get("matches", ()) if isinstance(each, dict)]
        if matches:
            break
    return tuple(_reading(document, line, talk) for document, line in _best_places(wish, matches))


def report(task: Task, talk: Talk) -> str:
    """The handoff: the best sentences that were read, word for word with their lines."""
    readings = [each for each in talk.now.results if each.tool == "read"]
    wish = _wish(task)
    found = spread_out(
        [each for each in rank_findings(wish, passages_of(readings)) if each.coverage >= FAINT], most=MAX_CANDIDATES
    )
    assignment = {"originalQuery": task.query, "method": task.method, "queryVariants": list(task.variants)}
    handoff = {"assignment": assignment, "candidates": [_candidate(each, task) for each in found]}
    return json.dumps(handoff, ensure_ascii=False)


def _wish(task: Task) -> Wish:
    """The question with the words of all wordings, in the question's own language: the orders around it are English."""
    language = detect_language([task.query, *task.variants])
    known = {word.stem for word in content_words(task.query, language)}
    more = [word.text for each in task.variants for word in content_words(each, language) if word.stem not in known]
    return make_wish(task.query, language, " ".join(dict.fromkeys(more)))


def _pattern(texts: Sequence[str]) -> str:
    """Any of the words; a long one also in other endings."""
    stems = dict.fromkeys(text[:-2] if len(text) > 6 else text for text in texts)
    pattern = ""
    for stem in stems:
        longer = f"{pattern}|{re.escape(stem)}".lstrip("|")
        if len(longer) > 300:
            break
        pattern = longer
    return pattern


def _best_places(wish: Wish, matches: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """The documents whose lines hold the most different words, each with the line that holds the most."""
    wanted = [fold(word.text)[: max(len(word.text) - 2, 4)] for word in wish.searched]
    lines: dict[str, dict[int, set[str]]] = defaultdict(dict)
    for match in matches:
        text = fold(str(match.get("text", "")) + " " + str(match.get("document", "")))
        held = {each for each in wanted if each in text}
        lines[str(match.get("document"))][int(match.get("line") or 1)] = held
    scored = []
    for document, held_in in lines.items():
        line = max(held_in, key=lambda place: (len(held_in[place]), -place))
        scored.append((len(set().union(*held_in.values())), len(held_in[line]), document, line))
    scored.sort(key=lambda each: (-each[0], -each[1], each[2]))
    return [(document, line) for _, _, document, line in scored[:MAX_DOCUMENTS]]


def _reading(document: str, line: int, talk: Talk) -> Call:
    start = max(1, line - WINDOW // 2)
    return Call("read", talk.offers.fit("read", path=document, start=start, lines=WINDOW) or {})


def _candidate(finding: Finding, task: Task) -> dict[str, Any]:
    passage, best = finding.passage, finding.best
    return {
        "source": passage.document,
        "method": task.method,
        "evidence": passage.text[best.start : best.end].strip() or best.text,
        "locator": f"line {_line_of(passage, best.start)}",
        "relevance": "strong" if finding.good else "moderate" if finding.coverage >= FAIR else "weak",
        "retrievedAt": clock.now().isoformat(timespec="seconds"),
        "sourceTemporal": {"status": "unknown"},
        "temporal_basis": "",
        "uncertainty": "",
    }


def _line_of(passage: Passage, offset: int) -> int:
    return passage.first_line + passage.text.count("\n", 0, offset)
