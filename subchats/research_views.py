"""A research on the page: a document opened at the words that were quoted, and what a person says of a result."""

from django import forms as fields
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from assistants import access, forms
from assistants.models import Thread
from assistants.rendering import fragments
from subchats.models import Evidence
from subchats.research import feedback
from subchats.research.datasources import address_of as address_of_source
from subchats.research.datasources import look_up
from subchats.research.passage import passage_of
from subchats.research_cards import address_of, anchor_of, result_of_feedback


class Opinion(fields.Form):
    """What a person thinks of a result; 0 takes an earlier word back."""

    useful = fields.TypedChoiceField(choices=[(each, each) for each in ("1", "0", "-1")], coerce=int)


@require_GET
def evidence(request: HttpRequest, chat_id: str, evidence_id: int) -> HttpResponse:
    """The document with the quote marked. Only for whom both the conversation and the folder are open (A1, S06)."""
    actor = access.actor_of(request.user, request.session)
    thread = access.get_thread(actor, chat_id)
    of_thread = Evidence.objects.select_related("document__root", "run__turn").filter(run__turn__thread=thread)
    found = of_thread.filter(pk=evidence_id).first()
    if found is None or not _may_read(actor, thread, found):
        raise Http404("No such evidence.")
    if found.document is None and look_up(thread, found.source) and (address := address_of_source(found.source)):
        # Its own page asks whether this reader may see it.
        return redirect(address)
    results = found.results.select_related("run__turn__thread")
    context = {
        "thread": thread,
        "evidence": found,
        "passage": passage_of(found),
        "results": [(each, address_of(each)) for each in results],
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
    return forms.accepted(request, thread, anchor=f"#{anchor_of(result)}")


def _may_read(actor: access.Actor, thread: Thread, evidence: Evidence) -> bool:
    """The reader's own rights count, whoever asked: a conversation may be shared with somebody who may not see the folder."""
    if evidence.document is None:
        return access.may(actor, "write", thread)
    return access.may(actor, "read", evidence.document.root)
