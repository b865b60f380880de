"""What a team's researches may look through besides its folders: grants of sources, and the local discovery (A-35, A-36)."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from assistants.admin.assistant_form import StarterLines
from assistants.admin.scope import ScopedAdmin, ScopedForm, is_root
from assistants.errors import CodedError
from subchats.models import DatasourceGrant, LocalDiscovery
from subchats.research.datasources import datasources, find_datasource
from subchats.research.find_command import check_command
from subchats.research.granting import grant_problems


class ScopeLines(StarterLines):
    """Names, one per line."""

    def validate(self, value: Any) -> None:
        """Which names there are is a rule of the grant."""


class GrantForm(ScopedForm):
    """Sources and tags as there are; only the team's research assistants are on offer."""

    source = forms.ChoiceField(label=_("Source"))
    tags = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Tags"),
        help_text=_("What of the source may be found. None ticked: nothing."),
    )
    scopes = ScopeLines(
        required=False,
        label=_("Scopes"),
        help_text=_("Narrows it to these parts, one per line: for conversations the short names of assistants. Empty: all."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "source" not in self.fields:
            return
        self.fields["source"].choices = [(each.name, each.name) for each in datasources()]
        kinds = {tag: words for each in datasources() for tag, words in each.tags.items()}
        gone = {tag: tag for tag in map(str, self.instance.tags) if tag not in kinds}
        self.fields["tags"].choices = [(tag, f"{tag}: {_(words)}") for tag, words in (kinds | gone).items()]
        field: Any = self.fields["assistant"]
        field.queryset = field.queryset.filter(research=True)
        field.help_text = _("One of the assistants of the team that are set to research.")

    def problems(self) -> Iterable[CodedError]:
        return grant_problems(self.instance)


@admin.register(DatasourceGrant)
class GrantAdmin(ScopedAdmin):
    form = GrantForm
    list_display = ("source", "assistant", "granted", "tenant")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("tenant", "assistant")
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "assistant", "source", "tags", "scopes"),
                "description": _(
                    "Without a grant a research finds nothing here. It always looks with the rights of whoever asks:"
                    " a grant opens nobody's conversations to somebody else."
                ),
            },
        ),
    )

    @admin.display(description=_("granted"))
    def granted(self, grant: DatasourceGrant) -> str:
        source = find_datasource(grant.source)
        if source is None or not grant.tags:
            return "–"
        return ", ".join(map(str, grant.tags)) + (f" ({', '.join(map(str, grant.scopes))})" if grant.scopes else "")


class DiscoveryForm(ScopedForm):
    def problems(self) -> Iterable[CodedError]:
        try:
            check_command(self.instance.command)
        except CodedError as error:
            yield error


@admin.register(LocalDiscovery)
class DiscoveryAdmin(ScopedAdmin):
    """The command runs on the server, so it is the superuser's to name; a team's admin switches it on and off."""

    form = DiscoveryForm
    list_display = ("tenant", "command", "enabled")
    list_display_links = ("tenant", "command")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("tenant",)
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "command", "enabled"),
                "description": _(
                    "Asked for each folder before explorers read in it, and its answer says what they may do then."
                    " {root} and {query} stand for the folder and the question."
                ),
            },
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_root(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_root(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return [*super().get_readonly_fields(request, obj), *(() if is_root(request) else ("command",))]
