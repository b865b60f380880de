"""Model profiles: keys that go in but never come out, and a button that tries the connection."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.errors import CodedError
from assistants.llm.check import CHECK_SECONDS, check_connection
from assistants.models import LLMProfile
from assistants.setup import keys

from .scope import ScopedAdmin, ScopedForm, is_root

NEEDS_MODEL = ("openai", "anthropic", "google", "local", "scripted")


class ProfileForm(ScopedForm):
    new_key = forms.CharField(
        label=_("New key"),
        required=False,
        strip=True,
        max_length=4000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "size": 60}),
        help_text=_("Replaces the stored key. Empty: the stored key stays, as long as provider and address do."),
    )
    remove_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = LLMProfile
        fields = ("name",)
        labels = {
            "base_url": _("Base URL"),
            "key_variable": _("Environment variable"),
            "max_output_tokens": _("Longest answer"),
            "first_token_seconds": _("To the first token"),
            "idle_seconds": _("Between two tokens"),
            "total_seconds": _("Altogether"),
            "streaming": _("Streams its answers"),
            "makes_titles": _("Makes titles"),
        }
        help_texts = {"max_output_tokens": _("In tokens.")}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        provider = data.get("provider")
        if provider in NEEDS_MODEL and not data.get("model"):
            self.add_error("model", _("This provider needs the name of a model."))
        if provider == "local" and not data.get("base_url"):
            self.add_error("base_url", _("A local model needs the address of its server, such as http://127.0.0.1:11434/v1."))
        return data

    def problems(self) -> Iterable[CodedError]:
        self.key_change = keys.settle_key(
            self.instance,
            key=self.cleaned_data.get("new_key", ""),
            remove=self.cleaned_data.get("remove_key", False),
            may_name_variable=bool(self.reader and self.reader.is_superuser),
        )
        return ()


@admin.register(LLMProfile)
class ProfileAdmin(ScopedAdmin):
    form = ProfileForm
    change_form_template = "admin/assistants/llmprofile/change_form.html"
    list_display = ("name", "tenant", "provider", "model", "base_url", "key")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter), "provider")
    list_select_related = ("tenant",)
    search_fields = ("name", "model")
    actions = ("test_connections",)
    readonly_fields = ("key",)
    # An address without a scheme must not carry a key in the clear.
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    fieldsets = (
        (None, {"fields": ("tenant", "name", ("provider", "model"), "base_url")}),
        (
            _("Key"),
            {
                "fields": ("key", "new_key", "remove_key", "key_variable"),
                "description": _(
                    "A key is stored encrypted and can't be read here again. It belongs to the server it was entered for:"
                    " change the provider or the address, and it has to be entered once more."
                ),
            },
        ),
        (
            _("Limits"),
            {
                "fields": (
                    ("context_window", "max_output_tokens"),
                    ("first_token_seconds", "idle_seconds", "total_seconds"),
                    ("streaming", "makes_titles"),
                ),
                "description": _("The times are seconds until a call is given up."),
            },
        ),
        (_("Price"), {"fields": (("input_price", "output_price"),), "description": _("In the team's currency.")}),
    )

    # --- rights
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        # Whoever names a variable can have any secret of this server sent to an address of their choice.
        more = () if is_root(request) else ("key_variable",)
        return [*super().get_readonly_fields(request, obj), *more]

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        # A filter on the stored text would give it away letter by letter.
        return not lookup.startswith("encrypted_key") and super().lookup_allowed(lookup, value, request)

    @admin.display(description=_("key"))
    def key(self, profile: LLMProfile) -> str:
        return keys.key_state(profile)

    # --- saving
    def save_model(self, request: HttpRequest, obj: LLMProfile, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if form.key_change == keys.DROPPED:
            text = gettext("The stored key was removed, because a key belongs to its server. Enter it again.")
            messages.warning(request, text)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        message = super().construct_change_message(request, form, formsets, add)
        return [*message, {"key": form.key_change}] if form.key_change == keys.DROPPED else message

    # --- the test of the connection
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().changeform_view(request, *args, **kwargs)
        # Only here, after the commit: the call may take half a minute, and a transaction would lock everybody out.
        if saved := getattr(request, "profile_to_test", None):
            self.test(request, saved)
        return response

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        response = super().response_add(request, obj, post_url_continue)
        return self._stay_and_test(request, obj) if "_test" in request.POST else response

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        response = super().response_change(request, obj)
        return self._stay_and_test(request, obj) if "_test" in request.POST else response

    def _stay_and_test(self, request: HttpRequest, profile: LLMProfile) -> HttpResponse:
        request.profile_to_test = profile
        return HttpResponseRedirect(reverse("admin:assistants_llmprofile_change", args=[profile.pk]))

    @admin.action(description=_("Test the connection"), permissions=["change"])
    def test_connections(self, request: HttpRequest, queryset: Any) -> None:
        for profile in queryset[:5]:
            self.test(request, profile)

    def test(self, request: HttpRequest, profile: LLMProfile) -> None:
        """Asks the model for one word and shows in a plain sentence how that went."""
        self.note(request, "tested", profile)
        try:
            said = try_connection(profile)
        except CodedError as error:
            messages.error(request, f"{profile.name}: {error.told}")
        else:
            messages.success(request, f"{profile.name}: {said}")


def try_connection(profile: LLMProfile) -> str:
    """The sentence of a connection that works. Raises a CodedError for one that doesn't."""
    try:
        return check_connection(profile.as_profile())
    except TimeoutError:
        raise CodedError(
            code="MODEL_SLOW",
            message=f"There was no answer within {CHECK_SECONDS:.0f} seconds.",
            fix="Check the address, and whether the model is loaded.",
        ) from None
