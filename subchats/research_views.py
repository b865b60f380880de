"""A research on the page: a document opened at the words that were quoted, and what a person says of a result."""

from dataclasses import dataclass

from django import forms as fields
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from assistants import access, forms
from assistants.models import Thread
from assistants.rendering import fragments
from subchats.models import Evidence
from subchats.research import feedback
from subchats.research_cards import result_of_feedback

LINES_AROUND = 200


@dataclass(frozen=True)
class Stretch:
    """The words of a document around a quote; `first` is the number of the first line that is shown."""

    before: str
    words: str
    after: str
    first: int
    cut_before: bool
    cut_after: bool


class Opinion(fields.Form):
    """What a person thinks of a result; 0 takes an earlier word back."""

    useful = fields.TypedChoiceField(choices=[(each, each) for each in ("1", "0", "-1")], coerce=int)


@require_GET
def evidence(request: HttpRequest, chat_id: str, evidence_id: int) -> HttpResponse:
    """The document with the quote marked. Only for whom both the conversation and the folder are open (A1, S06)."""
    actor = access.actor_of(request.user, request.session)
    thread = access.get_thread(actor, chat_id)
    found = (
        Evidence.objects.select_related("document__root", "run__turn").filter(pk=evidence_id, run__turn__thread=thread).first()
    )
    if found is None or not _may_read(actor, thread, found):
        raise Http404("No such evidence.")
    context = {
        "thread": thread,
        "evidence": found,
        "stretch": stretch_of(found),
        "sidebar": fragments.draw_sidebar(actor, thread),
    }
    return render(request, "subchats/evidence.html", context)


@require_POST
def give_feedback(request: HttpRequest, chat_id: str, feedback_id: str) -> HttpResponse:
    """Notes whether a result was useful; what is learned of it only nudges the order of later results (A-38, A-39)."""
    actor = access.actor_of(request.user, request.session)
    thread = access.get_thread(actor, chat_id, "write")
    result = result_of_feedback(feedback_id)
    if result is None or result.run.turn.thread_id != thread.pk:
        raise Http404("No such result.")
    opinion = Opinion(request.POST)
    if not opinion.is_valid():
        return forms.refuse(request, opinion)
    feedback.give(result, opinion.cleaned_data["useful"])
    return forms.accepted(request, thread)


def stretch_of(evidence: Evidence) -> Stretch | None:
    """The words around the quote, if the document still says what it said then; else None."""
    document = evidence.document
    if document is None or document.text[evidence.start : evidence.end] != evidence.excerpt:
        return None
    before, after = document.text[: evidence.start], document.text[evidence.end :]
    shown_before = before.split("\n")[-LINES_AROUND - 1 :]
    shown_after = after.split("\n")[: LINES_AROUND + 1]
    return Stretch(
        before="\n".join(shown_before),
        words=evidence.excerpt,
        after="\n".join(shown_after),
        first=before.count("\n") + 2 - len(shown_before),
        cut_before=len(shown_before) <= before.count("\n"),
        cut_after=len(shown_after) <= after.count("\n"),
    )


def _may_read(actor: access.Actor, thread: Thread, evidence: Evidence) -> bool:
    """The reader's own rights count, whoever asked: a conversation may be shared with somebody who may not see the folder."""
    if evidence.document is None:
        return access.may(actor, "write", thread)
    return access.may(actor, "read", evidence.document.root)
