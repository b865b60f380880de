"""Opening one document: its beginning, how it is built, or how it goes on."""

import re
from dataclasses import dataclass

from .passages import Passage, passages_of
from .phrases import phrase
from .quoting import Quote, render_quote
from .refusals import reason_of
from .segments import Segment, cut_segments, heading_text, is_heading
from .steps import Answer, Call, Miss, Need, Step
from .talk import Result, Talk

SHOWN = 1200
FILE_NAME = re.compile(
    r"(?<![\w/.-])[\w./-]*\w\.(?:md|markdown|txt|rst|adoc|org|pdf|docx?|odt|html?|csv|tsv|json|ya?ml|toml|ini|cfg|log|tex|eml|"
    r"xlsx?|pptx?|py|js|ts|sql)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reading:
    """One document by the name that the person gave. `mode` is open, outline or more."""

    name: str
    mode: str = "open"
    start: int = 1

    def advance(self, talk: Talk) -> Step:
        step, document = self._read(talk, known_document(talk, self.name))
        if step:
            return step
        result = talk.result_of("read_document", self._arguments(talk, document) or {})
        if result is None or not isinstance(result.data.get("text"), str):
            fix = result.refusal.message if result and result.refusal else phrase(talk.language, "try_topic")
            text = phrase(talk.language, "no_file", name=self.name, fix=fix)
            return Miss(text=text, established=text)
        return Answer(self._render(result, document, talk.language))

    def _read(self, talk: Talk, document: str) -> tuple[Step | None, str]:
        """The step that is still needed to have the document read, and its full name as far as it is known."""
        arguments = self._arguments(talk, document)
        if arguments is None:
            text = phrase(talk.language, "no_search")
            return Miss(text=text, established=text), document
        result = talk.result_of("read_document", arguments)
        if result is None:
            return Need((Call("read_document", arguments),)), document
        if isinstance(result.data.get("text"), str):
            return None, document
        return self._find(talk, document)

    def _find(self, talk: Talk, document: str) -> tuple[Step | None, str]:
        stem = re.sub(r"[^\w]+", " ", document.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip()
        search = talk.offers.fit("search_documents", query=stem or document)
        if search is None:
            return None, document
        found = talk.result_of("search_documents", search)
        if found is None:
            return Need((Call("search_documents", search),)), document
        match = next((each.document for each in passages_of([found]) if _is(each.document, self.name)), "")
        if not match or match == document:
            return None, document
        arguments = self._arguments(talk, match)
        if arguments and talk.result_of("read_document", arguments) is None:
            return Need((Call("read_document", arguments),)), match
        return None, match

    def _arguments(self, talk: Talk, document: str) -> dict[str, object] | None:
        lines = 400 if self.mode == "outline" else 60
        return talk.offers.fit("read_document", document=document, start=self.start, lines=lines)

    def _render(self, result: Result, document: str, language: str) -> str:
        passage = passages_of([result])[0]
        passage = Passage(document=passage.document or document, text=passage.text, first_line=passage.first_line or self.start)
        total = result.data.get("total_lines") or passage.text.count("\n") + 1
        name = f"`{passage.document}`"
        if self.mode == "outline" and (outline := render_outline(passage, language)):
            return f"{phrase(language, 'outline', document=name, total=total)}\n\n{outline}"
        if not passage.text.strip():
            return phrase(language, "end_of_document", document=name)
        key = {"open": "opened", "outline": "outline_no_headings", "more": "continued"}[self.mode]
        quote, at_end = _beginning(passage)
        last = passage.first_line + passage.text.count("\n", 0, quote.chosen[-1].end)
        closing = phrase(language, "end_of_document", document=name) if at_end and last >= total - 1 else phrase(language, "more_hint")
        return f"{phrase(language, key, document=name, total=total)}\n\n{render_quote(quote, language)}\n\n{closing}"


@dataclass(frozen=True)
class Listing:
    """All documents, if a tool lists them."""

    def advance(self, talk: Talk) -> Step:
        arguments = talk.offers.fit("list_documents")
        if arguments is None:
            return Answer(phrase(talk.language, "no_listing"))
        result = talk.result_of("list_documents", arguments)
        if result is None:
            return Need((Call("list_documents", arguments),))
        listed = result.data.get("documents", result.data.get("results", ()))
        names = [str(each.get("document") or each.get("path")) if isinstance(each, dict) else str(each) for each in listed]
        if not names:
            return Answer(phrase(talk.language, "refused", reason=reason_of(result, talk.language)))
        return Answer("\n".join([phrase(talk.language, "listing"), "", *(f"- `{each}`" for each in names[:60])]))


def known_document(talk: Talk, name: str) -> str:
    """The full name of a document that an earlier result named, else the name as given."""
    exchanges = (*talk.earlier, talk.now)
    documents = [each.document for exchange in reversed(exchanges) for each in passages_of(exchange.results)]
    return next((each for each in documents if _is(each, name)), name)


def render_outline(passage: Passage, language: str) -> str:
    """The headings of a text with the first sentence under each, all verbatim; empty if there are none."""
    segments = cut_segments(passage.text)
    lines = []
    for place, segment in enumerate(segments):
        if segment.kind != "heading":
            continue
        line = passage.first_line + passage.text.count("\n", 0, segment.start)
        level = re.match(r"\s*#*", segment.text)
        indent = "  " * max(0, min(3, len(level[0].strip()) - 1)) if level and is_heading(segment.text) else ""
        lines.append(f"{indent}- **{heading_text(segment.text)}** ({phrase(language, 'line', first=line)})")
        following = segments[place + 1] if place + 1 < len(segments) else None
        if following and following.kind == "sentence":
            lines[-1] += f": {' '.join(following.text.split())[:200]}"
    return "\n".join(lines[:40])


def _beginning(passage: Passage) -> tuple[Quote, bool]:
    segments = [each for each in cut_segments(passage.text) if each.kind != "heading"]
    chosen: list[Segment] = []
    for segment in segments or [Segment("sentence", passage.text, 0, len(passage.text), 0)]:
        if chosen and sum(len(each.text) for each in chosen) + len(segment.text) > SHOWN:
            return Quote(passage, tuple(chosen)), False
        chosen.append(segment)
    return Quote(passage, tuple(chosen)), True


def _is(document: str, name: str) -> bool:
    return document == name or document.casefold().endswith("/" + name.casefold()) or document.casefold() == name.casefold()
