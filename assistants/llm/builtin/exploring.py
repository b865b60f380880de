"""A research in two tiers, as the one who reads: greps for every wording, reads around the hits, hands quotes over."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from assistants import clock

from .dating import dated
from .findings import FAINT, FAIR, Finding, beside_best, rank_findings, spread_out
from .language import detect_language
from .passages import Passage, passages_of
from .sections import sections_of
from .steps import Call
from .talk import Talk
from .wish import Wish, make_wish
from .words import content_words, fold, kindred_texts, strong

START, END = "<<<AUTORAG_ASSIGNMENT_V1>>>", "<<<END_AUTORAG_ASSIGNMENT_V1>>>"
MAX_READINGS, MAX_SEEDS, MAX_CANDIDATES = 14, 8, 8
PLACES = 3
"""So many stretches of one document are read at most."""
WINDOW = 80
"""Lines that are read around a hit."""
STRETCH = 420
"""Characters of a paragraph that are quoted together."""
LISTED = 900
"""Characters of a table or a list that are quoted together."""
_SEED = re.compile(r"^- (?P<document>.+), lines? (?P<line>\d{1,8})$", re.MULTILINE)
_BLOCK = re.compile(rf"^{re.escape(START)}\s*$(?P<body>.*?)^{re.escape(END)}\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Task:
    """The question as it was asked, the way to look, the wordings to try, and where a search has found something."""

    query: str
    method: str
    variants: tuple[str, ...]
    seeds: tuple[tuple[str, int], ...] = ()


def find_task(talk: Talk) -> Task | None:
    """The assignment of an explorer; None for everybody else."""
    block = _BLOCK.search(talk.now.asked) if "grep" in talk.offers else None
    if block is None:
        return None
    try:
        data = json.loads(block["body"])
        seeds = [(each["document"], int(each["line"])) for each in _SEED.finditer(talk.now.asked, block.end())]
        return Task(
            str(data["originalQuery"]), str(data["method"]), tuple(map(str, data["queryVariants"])), tuple(seeds[:MAX_SEEDS])
        )
    except (ValueError, KeyError, TypeError):
        return None


def next_readings(task: Task, talk: Talk) -> tuple[Call, ...]:
    """What is still to be looked through: all words, kindred ones if those are nowhere, then the best places.

    Where a word stands almost everywhere, lines with several of the words are looked for first, or the rest would be cut off.
    """
    wish = _wish(task)
    words = [word.text for word in strong(wish.searched) or wish.searched]
    kindred = [text for word in wish.searched for half in kindred_texts(word) for text in half]
    matches: list[dict[str, Any]] = []
    for pattern in filter(None, (_together(words), _pattern(words), _pattern(kindred))):
        arguments = talk.offers.fit("grep", pattern=pattern) or {}
        found = talk.result_of("grep", arguments)
        if found is None:
            return (Call("grep", arguments),)
        matches += [each for each in found.data.get("matches", ()) if isinstance(each, dict)]
        if matches and pattern != _together(words):
            break
    places = dict.fromkeys([*task.seeds, *_best_places(wish, matches)])
    return tuple(_reading(document, line, talk) for document, line in _apart(places)[:MAX_READINGS])


def report(task: Task, talk: Talk) -> str:
    """The handoff: the best sentences that were read, word for word with their lines."""
    readings = [each for each in talk.now.results if each.tool == "read"]
    wish, whole = _wish(task), passages_of(readings)
    ranked = rank_findings(wish, sections_of(whole))
    found = spread_out([each for each in ranked if each.coverage >= FAINT], most=MAX_CANDIDATES)
    assignment = {"originalQuery": task.query, "method": task.method, "queryVariants": list(task.variants)}
    best = beside_best(wish, ranked)
    candidates = [_candidate(each, task, wish, whole, strong=each.good and each in best) for each in found]
    handoff = {"assignment": assignment, "candidates": candidates}
    return json.dumps(handoff, ensure_ascii=False)


def _wish(task: Task) -> Wish:
    """The question with the words of all wordings, in the question's own language: the orders around it are English."""
    language = detect_language([task.query, *task.variants])
    known = {word.stem for word in content_words(task.query, language)}
    more = [word.text for each in task.variants for word in content_words(each, language) if word.stem not in known]
    return make_wish(task.query, language, " ".join(dict.fromkeys(more)))


def _together(texts: Sequence[str]) -> str:
    """Two of the words in one line, in either order; nothing for a single word."""
    stems = _stems(texts)[:5]
    pairs = [f"(?=.*{re.escape(one)})(?=.*{re.escape(other)})" for place, one in enumerate(stems) for other in stems[:place]]
    return f"^(?:{'|'.join(pairs)})" if pairs and len(pairs) * 40 < 300 and sum(map(len, pairs)) < 280 else ""


def _pattern(texts: Sequence[str]) -> str:
    """Any of the words; a long one also in other endings."""
    pattern = ""
    for stem in _stems(texts):
        longer = f"{pattern}|{re.escape(stem)}".lstrip("|")
        if len(longer) > 300:
            break
        pattern = longer
    return pattern


def _stems(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(text[:-2] if len(text) > 6 else text for text in texts))


def _best_places(wish: Wish, matches: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Places in the documents whose lines hold the most different words, in each first the line that holds the most."""
    wanted = [[_beginning(text) for text in (word.text, *chain(*kindred_texts(word)))] for word in wish.searched]
    lines: dict[str, dict[int, set[str]]] = defaultdict(dict)
    for match in matches:
        text = fold(str(match.get("text", "")) + " " + str(match.get("document", "")))
        held = {each[0] for each in wanted if any(form in text for form in each)}
        lines[str(match.get("document"))][int(match.get("line") or 1)] = held
    scored = []
    for document, held_in in lines.items():
        order = sorted(held_in, key=lambda place: (-len(held_in[place]), place))
        for rank, (_, line) in enumerate(_apart((document, line) for line in order)[:PLACES]):
            scored.append((rank, len(set().union(*held_in.values())), len(held_in[line]), document, line))
    scored.sort(key=lambda each: (each[0], -each[1], -each[2], each[3]))
    return [(document, line) for _, _, _, document, line in scored]


def _beginning(text: str) -> str:
    return fold(text)[: max(len(text) - 2, 4)]


def _apart(places: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Without the places that the reading of an earlier one shows as well."""
    chosen: list[tuple[str, int]] = []
    for document, line in places:
        if not any(other == document and abs(line - near) < WINDOW // 2 for other, near in chosen):
            chosen.append((document, line))
    return chosen


def _reading(document: str, line: int, talk: Talk) -> Call:
    start = max(1, line - WINDOW // 2)
    return Call("read", talk.offers.fit("read", path=document, start=start, lines=WINDOW) or {})


def _candidate(finding: Finding, task: Task, wish: Wish, read: Sequence[Passage], *, strong: bool) -> dict[str, Any]:
    passage, (start, end) = finding.passage, _stretch(finding, wish)
    words = passage.text[start:end]
    line = _line_of(passage, start + len(words) - len(words.lstrip()))
    said = dated(passage.document, line, read)
    return {
        "source": passage.document,
        "method": task.method,
        "evidence": words.strip() or finding.best.text,
        "locator": f"line {line}" + (f", {title[:90]}" if (title := finding.best.heading or passage.title) else ""),
        "relevance": "strong" if strong else "moderate" if finding.coverage >= FAIR else "weak",
        "retrievedAt": clock.now().isoformat(timespec="seconds"),
        "sourceTemporal": {"status": said.status, said.status: said.day} if said else {"status": "unknown"},
        "temporal_basis": said.basis if said else "",
        "uncertainty": "",
    }


def _stretch(finding: Finding, wish: Wish) -> tuple[int, int]:
    """The best segment, and as much of its paragraph as has room: what follows explains it, what stands before leads to it.

    Of rows or items that are asked for together, since only what stands over them is named, all that have room.
    """
    best = finding.best
    start, end = best.start, best.end
    if best.kind != "sentence":
        return _listed(finding) if finding.by_heading and not wish.numeric else (start, end)
    beside = [each for each in finding.segments if each.block == best.block and each != best]
    after = [each for each in beside if each.start >= end]
    for each in [*after, *reversed([each for each in beside if each.end <= start])]:
        if max(end, each.end) - min(start, each.start) > STRETCH:
            break
        start, end = min(start, each.start), max(end, each.end)
    return start, end


def _listed(finding: Finding) -> tuple[int, int]:
    """The table or list of the best segment as far as it has room, with the names of its columns."""
    best, rows = finding.best, (finding.best, *finding.alike)
    heads = [each.start for each in finding.segments if each.kind == "head" and each.text == best.above]
    start = max((each for each in heads if each < best.start), default=min(each.start for each in rows))
    end = max((each.end for each in rows if each.end - start <= LISTED), default=0)
    return (start, end) if end >= best.end else (best.start, best.end)


def _line_of(passage: Passage, offset: int) -> int:
    return passage.first_line + passage.text.count("\n", 0, offset)
