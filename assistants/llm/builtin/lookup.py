"""Looking something up in the documents: searches in up to three rounds, then quotes, a question back, or a miss."""

from collections.abc import Sequence
from dataclasses import dataclass

from .ambiguity import ambiguous_documents
from .findings import FAINT, Finding, is_answered, missing_words, rank_findings
from .opening import is_named, open_document
from .passages import passages_of, total_of
from .phrases import enumerated, phrase, quoted
from .queries import ROUNDS, queries_of_round
from .quoting import Quote, make_quote, overlaps, render_quote
from .refusals import reason_of
from .steps import Answer, Call, Miss, Need, Question, Step
from .talk import Result, Talk
from .wish import Wish
from .words import strong

MAX_QUOTES = 4
LIMIT = 15


@dataclass(frozen=True)
class Lookup:
    """One wish, looked up by search_documents; the passage around a find is read when it was cut off."""

    wish: Wish
    may_ask: bool = True
    rounds: int = ROUNDS

    def advance(self, talk: Talk) -> Step:
        results: list[Result] = []
        findings: tuple[Finding, ...] = ()
        queries: list[str] = []
        for number in range(min(self.rounds, ROUNDS)):
            missing = missing_words(self.wish, findings)
            fresh = queries_of_round(number, self.wish, missing=missing, found_any=bool(findings), before=queries)
            told, needed = _told(talk, _search_calls(talk, fresh))
            if needed:
                return Need(needed)
            results += told
            queries += fresh
            findings = self._findings(results)
            if is_answered(self.wish, findings):
                break
        if not is_answered(self.wish, findings):
            read, needed = _read_named(talk, self.wish.documents)
            if needed:
                return Need(needed)
            results += read
            findings = self._findings(results)
        return self._conclude(talk, results, findings, queries)

    def _findings(self, results: Sequence[Result]) -> tuple[Finding, ...]:
        passages = passages_of(results)
        if self.wish.documents:
            passages = tuple(each for each in passages if any(is_named(each.document, name) for name in self.wish.documents))
        return rank_findings(self.wish, passages)

    def _conclude(self, talk: Talk, results: list[Result], findings: tuple[Finding, ...], queries: list[str]) -> Step:
        if not is_answered(self.wish, findings):
            return _miss(self.wish, talk, results, findings, queries)
        if self.may_ask and not self.wish.settled and (options := ambiguous_documents(self.wish, findings)):
            return Question(phrase(talk.language, "which_document", words=self.wish.subject), options)
        if more := _cut_off(talk, findings[0]):
            read = talk.result_of(more.tool, more.arguments)
            if read is None:
                return Need((more,))
            findings = _with_reading(self.wish, findings, read)
        answer = render_findings(self.wish, findings, talk.language, total=total_of(results))
        return Answer(answer + _still_reading(results, talk.language))


def _still_reading(results: Sequence[Result], language: str) -> str:
    """A warning while a folder is read for the first time."""
    incomplete = any("still being read" in str(result.data.get("note")) for result in results)
    return f"\n\n{phrase(language, 'still_reading')}" if incomplete else ""


def render_findings(wish: Wish, findings: Sequence[Finding], language: str, *, total: int = 0) -> str:
    """One to four quotes, what none of them mentions, and where else there are hits."""
    quotes: list[Quote] = []
    used: list[Finding] = []
    for finding in _worth_quoting(wish, findings):
        quote = make_quote(finding, wish)
        if len(quotes) < MAX_QUOTES and not overlaps(quote, quotes):
            quotes.append(quote)
            used.append(finding)
    documents = {quote.passage.document for quote in quotes}
    one = phrase(language, "found_one", document=f"`{quotes[0].passage.document}`")
    parts = [one if len(documents) == 1 else phrase(language, "found")]
    parts += [render_quote(quote, language) for quote in quotes]
    tail = []
    if missing := missing_words(wish, used):
        tail.append(phrase(language, "not_mentioned", words=enumerated(language, [quoted(language, each) for each in missing])))
    best = findings[0]
    near = [each for each in findings if each.coverage >= 0.7 * best.coverage and each.score >= 0.6 * best.score]
    others = dict.fromkeys(f"`{each.passage.document}`" for each in near if each.passage.document not in documents)
    if others and total > len(quotes):
        tail.append(phrase(language, "elsewhere", documents=", ".join(list(others)[:4])))
    return "\n\n".join([*parts, *([" ".join(tail)] if tail else [])])


def _told(talk: Talk, calls: Sequence[Call]) -> tuple[list[Result], tuple[Call, ...]]:
    """The results of those calls that have one, and the calls that are still needed."""
    told = [(call, talk.result_of(call.tool, call.arguments)) for call in calls]
    return [result for _, result in told if result], tuple(call for call, result in told if result is None)


def _search_calls(talk: Talk, queries: Sequence[str]) -> list[Call]:
    fitted = [talk.offers.fit("search_documents", query=query, limit=LIMIT) for query in queries]
    return [Call("search_documents", arguments) for arguments in fitted if arguments is not None]


def _read_named(talk: Talk, documents: Sequence[str]) -> tuple[list[Result], tuple[Call, ...]]:
    """Named documents themselves: a search over everything may leave them out."""
    opened = [open_document(talk, each, start=1, lines=400) for each in documents[:3]]
    needed = tuple(call for each in opened if isinstance(each, Need) for call in each.calls)
    return [each for each in opened if isinstance(each, Result)], needed


def _worth_quoting(wish: Wish, findings: Sequence[Finding]) -> list[Finding]:
    """Those about as good as the best, and for each word that they miss the best one that carries it."""
    best = findings[0]
    chosen = [each for each in findings if each.coverage >= 0.8 * best.coverage and each.score >= 0.85 * best.score]
    least = (0.3 if wish.everything else 0.5) * best.coverage
    for word in missing_words(wish, chosen):
        chosen += [each for each in findings if word in each.carried and each.coverage >= least][:1]
    # Whoever chose several documents wants to hear of each.
    chosen += [next((each for each in findings if is_named(each.passage.document, name)), best) for name in wish.documents]
    return list(dict.fromkeys(chosen))


def _miss(wish: Wish, talk: Talk, results: Sequence[Result], findings: Sequence[Finding], queries: Sequence[str]) -> Miss:
    words = enumerated(
        talk.language, [quoted(talk.language, word.text) for word in strong(wish.words) or wish.words]
    ) or quoted(talk.language, wish.text)
    searched = enumerated(talk.language, [quoted(talk.language, each) for each in dict.fromkeys(queries)])
    refused = next((each for each in results if each.tool == "search_documents" and (each.refusal or not each.data)), None)
    if refused and not findings:
        reason = reason_of(refused, talk.language)
        known = refused.refusal and refused.refusal.code == "NO_DOCUMENTS"
        text = reason if known else phrase(talk.language, "refused", reason=reason)
        return Miss(text=text, established=text)
    if findings and findings[0].coverage >= FAINT:
        near = render_quote(make_quote(findings[0], wish), talk.language)
        lines = [phrase(talk.language, "found_near"), near]
        if missing := missing_words(wish, findings[:1]):
            listed = enumerated(talk.language, [quoted(talk.language, each) for each in missing])
            lines.append(phrase(talk.language, "not_mentioned_here", words=listed))
        established = phrase(talk.language, "searched_near", queries=searched, document=findings[0].passage.document)
        return Miss(text="\n\n".join(lines), established=established, near=True)
    if wish.documents:
        text = phrase(talk.language, "nothing_found_in", words=words, document=", ".join(wish.documents))
    else:
        text = phrase(talk.language, "nothing_found_short", words=words) + _still_reading(results, talk.language)
    return Miss(text=text, established=phrase(talk.language, "searched_for", queries=searched))


def _cut_off(talk: Talk, finding: Finding) -> Call | None:
    """The lines after a passage that ends in the middle of its best part, if they can be read."""
    last = [each for each in finding.segments if each.quotable][-1]
    passage = finding.passage
    ends = passage.text.rstrip()[-1:]
    unfinished = ends == ":" or (last.kind == "sentence" and ends.isalnum()) or (last.kind == "code" and ends not in "`~")
    if not passage.counted or finding.best != last or not unfinished:
        return None
    start = passage.first_line + passage.text.count("\n", 0, finding.best.start)
    arguments = talk.offers.fit("read_document", document=passage.document, start=start, lines=30)
    return Call("read_document", arguments) if arguments else None


def _with_reading(wish: Wish, findings: tuple[Finding, ...], read: Result) -> tuple[Finding, ...]:
    again = rank_findings(wish, passages_of([read]))
    if not again or again[0].coverage < 0.8 * findings[0].coverage:
        return findings
    return (again[0], *findings[1:])
