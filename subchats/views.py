"""What a person does with a sub-chat: send its new result up, run it again; with a plan, and the steps of a workflow."""

from uuid import UUID

from django import forms as fields
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from assistants import access, forms
from assistants.llm.plain_text import clean_text
from assistants.models import User
from assistants.turns import lifecycle
from assistants.views.person import check_rate
from subchats.delegation.send_back import send_back as send_back_result
from subchats.planning import approval
from subchats.planning.steps import Draft
from subchats.workflows import records
from subchats.workflows.catalogue import get_node, get_workflow


class PlanDecision(fields.Form):
    """A word on the version of a plan that the hash names."""

    decision = fields.ChoiceField(choices=[(each, each) for each in ("approve", "reject", "save", "save-approve")])
    hash = fields.CharField(max_length=64)
    words = fields.CharField(max_length=approval.MAX_WORDS, required=False)


class StepOfWorkflow(fields.Form):
    workflow = fields.CharField(max_length=80)
    node = fields.CharField(max_length=80)
    key = fields.CharField(max_length=64, required=False)


class StepMark(StepOfWorkflow):
    completed = fields.TypedChoiceField(choices=[("1", "yes"), ("0", "no")], coerce=lambda value: value == "1")
    note = fields.CharField(max_length=2000, required=False)


@require_POST
def send_back(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Leads to the parent, where its assistant goes on from the new result."""
    actor = access.actor_of(request.user, request.session)
    child = access.get_thread(actor, chat_id, "write")
    sent = send_back_result(child, by=actor if isinstance(actor, User) else None)
    return forms.go_to(request, "thread", sent.message.thread.chat_id)


@require_POST
def run_again(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Answers the sub-chat's last message once more, in the sub-chat itself (D16)."""
    actor = access.actor_of(request.user, request.session)
    child = access.get_thread(actor, chat_id, "write")
    lifecycle.retry_turn(lifecycle.last_turn(child))
    return forms.accepted(request, child)


@require_POST
def decide_plan(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """A person approves a plan, changes it or rejects it; the turn that waits for it goes on (decision 5)."""
    actor = access.actor_of(request.user, request.session)
    call = access.get_call(actor, call_id, "write")
    form = PlanDecision(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    said = form.cleaned_data
    by = actor if isinstance(actor, User) else None
    decision = approval.Decision(by=by, name=by.display_name if by else "the visitor", shown=said["hash"])
    if said["decision"] == "approve":
        approval.approve(call, decision)
    elif said["decision"] == "reject":
        approval.reject(call, decision, words=said["words"])
    else:
        approval.change(call, decision, _drafts(request), approved=said["decision"] == "save-approve")
    return forms.accepted(request, call.turn.thread)


def _drafts(request: HttpRequest) -> list[Draft]:
    """The steps of the form, without those that have no description. A new specialist brings its own domain."""
    columns = [map(clean_text, request.POST.getlist(name)) for name in ("description", "check", "specialist", "domain")]
    rows = [Draft(text, check, who, "" if who.strip() else domain) for text, check, who, domain in zip(*columns, strict=False)]
    return [draft for draft in rows if draft.description.strip()]


@require_POST
def mark_step(request: HttpRequest, chat_id: str) -> HttpResponse:
    """A person says that a step of a workflow is done, or takes that back (J-37)."""
    actor = access.actor_of(request.user, request.session)
    thread = access.get_thread(actor, chat_id, "write")
    form = StepMark(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    said = form.cleaned_data
    workflow = get_workflow(thread.tenant_id, said["workflow"])
    node = get_node(workflow, said["node"])
    by = actor if isinstance(actor, User) else None
    records.record_step(thread, workflow, node, completed=said["completed"], note=said["note"], user=by)
    return forms.accepted(request, thread)


@require_POST
def run_from_step(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Has the conversation's assistant do a step of a workflow and all that rests on it once more."""
    actor = access.actor_of(request.user, request.session)
    thread = access.get_thread(actor, chat_id, "write")
    check_rate(request)
    form = StepOfWorkflow(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    workflow = get_workflow(thread.tenant_id, form.cleaned_data["workflow"])
    node = get_node(workflow, form.cleaned_data["node"])
    by = actor if isinstance(actor, User) else None
    records.run_from(thread, workflow, node, by=by, key=form.cleaned_data["key"])
    return forms.accepted(request, thread.root or thread)
