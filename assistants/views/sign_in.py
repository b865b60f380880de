"""Signing in, by password or by a one-time link, and what the page looks like for whom."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from assistants import forms, guesses, login_links
from assistants.conversations import preferences
from assistants.models import User

from .person import author


class SignIn(LoginView):
    """The sign-in page. Whoever signs in gets the language they chose, here too when they come back."""

    template_name = "assistants/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        guesses.check_guess(request.POST.get("username", ""), request.META.get("REMOTE_ADDR", ""))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        guesses.forgive(self.request.POST.get("username", ""), self.request.META.get("REMOTE_ADDR", ""))
        return remember_language(super().form_valid(form), form.get_user().language)


@csrf_protect
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """The one-time sign-in link. Opening it shows a button, since a GET must change nothing (S14)."""
    posted = request.method == "POST"
    user = login_links.use_link(uid, token) if posted else login_links.user_of_link(uid, token)
    if user is None:
        return render(request, "assistants/enter.html", {"expired": True}, status=410)
    if posted:
        login(request, user)
        return remember_language(redirect("home"), user.language)
    return render(request, "assistants/enter.html", {"person": user})


@require_POST
def save_preferences(request: HttpRequest) -> HttpResponse:
    """Keeps theme and language: with the user, else in the session; the language in a cookie too, for the sign-in page."""
    form = forms.Preferences(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    theme, language = form.cleaned_data["theme"], form.cleaned_data["language"]
    user = author(request)
    if isinstance(user, User):
        preferences.save_preferences(user, theme=theme, language=language)
    elif theme:
        request.session["theme"] = theme
    if request.headers.get("HX-Request"):
        response = HttpResponse(status=204, headers={"HX-Refresh": "true"} if language else {})
    else:
        response = redirect(forms.came_from(request))
    return remember_language(response, language)


def remember_language(response: HttpResponse, language: str) -> HttpResponse:
    """Sets the cookie that the site reads the language from; nothing without a language."""
    if language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            language,
            max_age=365 * 24 * 3600,
            secure=settings.HTTPS,
            httponly=True,
            samesite="Lax",
        )
    return response
