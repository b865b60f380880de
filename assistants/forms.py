"""Reads what a page sends, and answers in the way that its sender understands: htmx, a plain form or a script."""

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from assistants.errors import CodedError
from assistants.models import Thread


class Composer(forms.Form):
    """A message and the key that makes sending it twice harmless (D3)."""

    text = forms.CharField(strip=False, required=False)
    key = forms.CharField(max_length=64, required=False)


class NewThread(Composer):
    assistant = forms.IntegerField()


def cursor(value: str | None, thread: Thread) -> int | None:
    """An event number as a page sends it, or None when it can't belong to this thread: the page must reload."""
    if value is None or not value.isascii() or not value.isdigit() or len(value) > 18:
        return None
    number = int(value)
    return number if number <= thread.last_event else None


def refuse(request: HttpRequest, form: forms.Form) -> HttpResponse:
    """Bad input: 400 with the first thing to put right."""
    field, errors = next(iter(form.errors.items()))
    error = CodedError(code="BAD_INPUT", field=field, message=f"{field}: {errors[0]}", fix="Put it right and send again.")
    return refused(request, error, status=400)


def refused(request: HttpRequest, error: CodedError, *, status: int) -> HttpResponse:
    """A refusal as a sentence; the page shows it and keeps what was typed."""
    body = {"code": error.code, "field": error.field, "message": error.message, "fix": error.fix}
    return JsonResponse(body, status=status)


def accepted(request: HttpRequest, thread: Thread) -> HttpResponse:
    """Done: a page with a socket learns the rest from its events, a plain form is led back."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204)
    return redirect("thread", thread.chat_id)


def go_to(request: HttpRequest, name: str, *args: object) -> HttpResponse:
    """Leads to another page, with htmx or without."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse(name, args=args)})
    return redirect(name, *args)
