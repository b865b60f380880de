"""Opening one document: its beginning, how it is built, or how it goes on."""

import re
from dataclasses import dataclass, replace

from .opening import full_name, near_names, open_document
from .passages import Passage, passages_of
from .phrases import phrase
from .quoting import Quote, render_quote
from .refusals import one_line, reason_of
from .segments import Segment, cut_segments, heading_text, is_heading
from .steps import Answer, Call, Miss, Need, Step
from .talk import Result, Talk

SHOWN = 1200


@dataclass(frozen=True)
class Reading:
    """One document by the name that the person gave. `mode` is open, outline or more."""

    name: str
    mode: str = "open"
    start: int = 1

    def advance(self, talk: Talk) -> Step:
        read = open_document(talk, self.name, start=self.start, lines=400 if self.mode == "outline" else 60)
        if isinstance(read, Need):
            return read
        if read is None:
            near = near_names(talk)
            listed = ", ".join(f"`{each}`" for each in near)
            fix = phrase(talk.language, "near_files", names=listed) if near else phrase(talk.language, "try_topic")
            text = phrase(talk.language, "no_file", name=self.name, fix=fix)
            return Miss(text=text, established=text, final=True)
        return Answer(self._render(read, full_name(talk, self.name), talk.language))

    def _render(self, result: Result, document: str, language: str) -> str:
        passage = passages_of([result])[0]
        if not passage.counted:
            last = self.start + passage.text.count("\n")
            passage = replace(passage, first_line=self.start, last_line=last, counted=True)
        passage = replace(passage, document=passage.document or document)
        total = result.data.get("total_lines") or passage.text.count("\n") + 1
        name = f"`{passage.document}`"
        if self.mode == "outline" and (outline := render_outline(passage, language)):
            rest = f"\n\n{phrase(language, 'outline_part', last=passage.last_line)}" if passage.last_line < total else ""
            return f"{phrase(language, 'outline', document=name, total=total)}\n\n{outline}{rest}"
        if not passage.text.strip():
            return phrase(language, "end_of_document", document=name)
        key = {"open": "opened", "outline": "outline_no_headings", "more": "continued"}[self.mode]
        quote, at_end = _beginning(passage)
        last = passage.first_line + passage.text.count("\n", 0, quote.chosen[-1].end)
        ended = at_end and last >= total - 1
        if ended and self.mode == "open" and self.start == 1:
            return f"{phrase(language, 'opened_whole', document=name, total=total)}\n\n{render_quote(quote, language)}"
        closing = phrase(language, "end_of_document" if ended else "more_hint", document=name)
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
            lines[-1] += f": {_first_words(following.text)}"
    return "\n".join(lines[:40])


def _first_words(text: str) -> str:
    line = one_line(text, 200)
    return line if line.count("`") % 2 == 0 else line.replace("`", "")


def _beginning(passage: Passage) -> tuple[Quote, bool]:
    segments = [each for each in cut_segments(passage.text) if each.kind != "heading"]
    chosen: list[Segment] = []
    for segment in segments or [Segment("sentence", passage.text, 0, len(passage.text), 0)]:
        if chosen and sum(len(each.text) for each in chosen) + len(segment.text) > SHOWN:
            return Quote(passage, tuple(chosen)), False
        chosen.append(segment)
    return Quote(passage, tuple(chosen)), True
