"""The form of an assistant: tools with what they do, delegates of its own team, starters one per line."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.errors import CodedError
from assistants.models import Assistant
from assistants.setup.rules import assistant_problems
from assistants.tools.registry import Tool, all_tools

from .scope import ScopedForm

MAX_STARTERS, STARTER_CHARS = 6, 200
EFFECTS = {
    "pure": _("changes nothing"),
    "idempotent": _("done once, even if repeated"),
    "once": _("never repeated by itself"),
}


class StarterLines(forms.CharField):
    """A list of texts, written one per line."""

    widget = forms.Textarea(attrs={"rows": 4, "dir": "auto"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def validate(self, value: Any) -> None:
        if len(value) > MAX_STARTERS:
            raise ValidationError(_("At most %(most)s starters.") % {"most": MAX_STARTERS})
        if any(len(line) > STARTER_CHARS for line in value):
            raise ValidationError(_("A starter has at most %(most)s characters.") % {"most": STARTER_CHARS})

    def run_validators(self, value: Any) -> None:
        """The length of the joined text says nothing."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or []) != self.to_python(data)


class DelegateBoxes(forms.ModelMultipleChoiceField):
    """The other assistants of the team, each with what it is for."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, obj: Any) -> SafeString:
        flags = ((_("switched off"),),) if not obj.enabled else ()
        return _choice(f"{obj.avatar} {obj.name}".strip(), obj.slug, flags, obj.description)


class AssistantForm(ScopedForm):
    tools = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Tools"),
        help_text=_("Only what is ticked can be called, and it is checked again at every call."),
    )
    approve_tools = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Asks a person first"),
        help_text=_("Each call of these waits until its person has read its exact arguments and allowed it."),
    )
    delegates = DelegateBoxes(queryset=Assistant.objects.all(), required=False, label=_("Delegates"))
    starters = StarterLines(required=False, label=_("Starters"), help_text=_("Offered in an empty chat, one per line."))

    class Meta:
        model = Assistant
        fields = ("name",)
        labels = {
            "slug": _("Short name"),
            "max_steps": _("Model calls in one turn"),
            "may_ask": _("May ask the person"),
            "plan_gate": _("Needs a plan"),
            "plan_approval": _("Who approves the plan"),
            "turn_tokens": _("Tokens for one turn"),
            "idle_seconds": _("Seconds without a sign of life"),
            "wall_seconds": _("Seconds in all"),
        }
        help_texts = {"max_steps": _("Then the turn stops and keeps what it has."), "instructions": "", "slug": ""}
        widgets = {
            "avatar": forms.TextInput(attrs={"size": 6}),
            "description": forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
            "instructions": forms.Textarea(attrs={"rows": 14, "dir": "auto"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "tools" not in self.fields:
            return
        self.fields["tools"].choices = _tool_choices(self.instance.tools)
        self.fields["approve_tools"].choices = _names_to_approve(self.instance.approve_tools)
        delegates: Any = self.fields["delegates"]
        delegates.queryset = delegates.queryset.exclude(pk=self.instance.pk).filter(public=False)
        if self.instance.pk:
            # Whoever stands on the list against the rules is shown, or nobody could take them off it.
            delegates.queryset = (delegates.queryset | self.instance.delegates.all()).distinct()
        delegates.help_text = _("Whom it may hand work to. None ticked: every assistant of the team that is not public.")
        most = settings.TASKMONKEY["MAX_STEPS"]
        self.fields["max_steps"].widget.attrs.update(min=1, max=most)

    def problems(self) -> Iterable[CodedError]:
        return assistant_problems(self.instance, delegates=self.cleaned_data["delegates"])


def _tool_choices(held: list[str]) -> list[tuple[str, SafeString]]:
    known = all_tools()
    choices = [(tool.name, _describe(tool)) for tool in known]
    names = {tool.name for tool in known}
    gone = _("This site has no such tool any more. Take the tick away.")
    return choices + [(name, _choice(name, "", ((_("unknown"),),), str(gone))) for name in map(str, held) if name not in names]


def _names_to_approve(held: list[str]) -> list[tuple[str, SafeString]]:
    always = ((_("always asks"),),)
    known = {tool.name: _choice(tool.name, "", always if tool.approval else (), "") for tool in all_tools()}
    gone = {name: _choice(name, "", ((_("unknown"),),), "") for name in map(str, held) if name not in known}
    return [*known.items(), *gone.items()]


def _describe(tool: Tool) -> SafeString:
    flags: list[tuple[Any]] = [(EFFECTS[tool.effect],)]
    for is_so, words in (
        (tool.delegates, _("hands work on: not for public assistants")),
        (tool.reads_private, _("reads the team's data")),
        (tool.takes_untrusted, _("takes in text from outside")),
        (tool.sends_out, _("sends something out")),
        (tool.approval, _("always asks a person first")),
    ):
        if is_so:
            flags.append((words,))
    return _choice(tool.name, "", flags, gettext(" ".join(tool.description.partition("\n\n")[0].split())))


def _choice(name: str, code: str, flags: Iterable[tuple[Any]], text: str) -> SafeString:
    return format_html(
        '<b dir="auto">{}</b>{}{} <small dir="auto">{}</small>',
        name,
        format_html(" <code>{}</code>", code) if code else "",
        format_html_join("", ' <span class="chip">{}</span>', flags),
        " ".join(text.split()),
    )
