"""Reads what a page sends, and answers in the way that its sender understands: htmx, a plain form or a program."""

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from assistants.errors import CodedError, Throttled
from assistants.failpoints import failpoint
from assistants.models import Thread, Turn, User
from assistants.sentences import spoken

# The ways of a message into a thread that is busy.
HOW = {"queue": Turn.Joins.NOT, "steer": Turn.Joins.STEER, "interrupt": Turn.Joins.INTERRUPT}


class Composer(forms.Form):
    """A message and the key that makes sending it twice harmless (D3)."""

    text = forms.CharField(strip=False, required=False)
    key = forms.CharField(max_length=64, required=False)
    how = forms.ChoiceField(choices=[(how, how) for how in HOW], required=False)

    def clean_how(self) -> str:
        """What becomes of the message while a turn runs; without a choice it waits in the queue."""
        return HOW.get(self.cleaned_data["how"], Turn.Joins.NOT)


class NewThread(Composer):
    assistant = forms.IntegerField()


class Title(forms.Form):
    title = forms.CharField(required=False)


class Mark(forms.Form):
    """`on` says how a mark should be; without it, it is turned round."""

    on = forms.NullBooleanField()


class Reader(forms.Form):
    username = forms.CharField(max_length=150)


class Decision(forms.Form):
    happened = forms.TypedChoiceField(choices=[("1", "yes"), ("0", "no")], coerce=lambda value: value == "1")


class Approval(forms.Form):
    """The hash of the arguments that the person had before their eyes."""

    hash = forms.CharField(max_length=64)


class Preferences(forms.Form):
    """Each is left as it is when it is not sent."""

    theme = forms.ChoiceField(choices=User._meta.get_field("theme").choices or (), required=False)
    language = forms.ChoiceField(choices=settings.LANGUAGES, required=False)


def cursor(value: str | None, thread: Thread) -> int | None:
    """An event number as a page sends it, or None when it can't belong to this thread: the page must reload."""
    number = number_in(value)
    return number if number is not None and number <= thread.last_event else None


def number_in(value: str | None) -> int | None:
    """A number as an address carries it, or None for anything else."""
    if value is None or not value.isascii() or not value.isdigit() or len(value) > 18:
        return None
    return int(value)


def wants_json(request: HttpRequest) -> bool:
    """Whether a program asks, as opposed to a person's browser."""
    return "application/json" in request.headers.get("Accept", "")


def is_plain_form(request: HttpRequest) -> bool:
    """Whether a browser asks without a script of ours: it then shows whatever comes back as a page."""
    return not request.headers.get("HX-Request") and "text/html" in request.headers.get("Accept", "")


def refuse(request: HttpRequest, form: forms.Form) -> HttpResponse:
    """Bad input: 400 with the first thing to put right."""
    field, errors = next(iter(form.errors.items()))
    error = CodedError(code="BAD_INPUT", field=field, message=f"{field}: {errors[0]}", fix="Put it right and send again.")
    return refused(request, error, status=400)


def refused(request: HttpRequest, error: CodedError, *, status: int) -> HttpResponse:
    """A refusal as a sentence: as JSON {code, field, message, fix}, or as a page that still holds what was typed."""
    response: HttpResponse
    if is_plain_form(request):
        context = {"error": error, "kept": request.POST.get("text", ""), "back": came_from(request)}
        response = render(request, "assistants/refused.html", context, status=status)
    else:
        told = {"message": spoken(error.message), "fix": spoken(error.fix)}
        body = {"code": error.code, "field": error.field, **told}
        response = JsonResponse(body, status=status)
    if isinstance(error, Throttled):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def accepted(request: HttpRequest, thread: Thread, *, anchor: str = "", **facts: Any) -> HttpResponse:
    """Done: a page with a socket learns the rest from its events, a plain form is led back, a program gets the facts."""
    if wants_json(request):
        return JsonResponse({"chat_id": thread.chat_id, **facts})
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204)
    return redirect(reverse("thread", args=[thread.chat_id]) + anchor)


def go_to(request: HttpRequest, name: str, *args: object, **facts: Any) -> HttpResponse:
    """Leads to another page, with htmx or without; a program gets the facts."""
    if wants_json(request):
        return JsonResponse(facts)
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse(name, args=args)})
    return redirect(name, *args)


def replied(response: HttpResponse) -> HttpResponse:
    """Marks the moment when the answer to a send has left: the third of a turn's named points (D12)."""
    close = response.close

    def close_and_mark() -> None:
        close()
        failpoint("send.replied")

    response.close = close_and_mark  # type: ignore[method-assign]
    return response


def came_from(request: HttpRequest) -> str:
    """The page of ours that the request was sent from, else the first one."""
    referer = request.headers.get("Referer", "")
    own = url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure())
    return referer if own else reverse("home")
