"""Groups of people who share a budget; they give no rights to anybody."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from assistants.models import Tenant, User

from .scope import ScopedAdmin, is_root

# Rights come from memberships, never from groups or model permissions.
admin.site.unregister(Group)


class GroupForm(forms.ModelForm):
    """A group with the people in it."""

    members = forms.ModelMultipleChoiceField(
        User.objects.order_by("username"), required=False, widget=forms.CheckboxSelectMultiple, label=_("members")
    )

    class Meta:
        model = Group
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["members"] = self.instance.user_set.all()


@admin.register(Group)
class GroupAdmin(ScopedAdmin):
    """People who share a budget, over all teams: the superuser's to put together. A group gives no rights to anybody."""

    tenant_path = ""
    form = GroupForm
    list_display = ("name",)

    def manages(self, request: HttpRequest, obj: Model | None) -> bool:
        return is_root(request)

    def tenant_of(self, obj: Model) -> Tenant | None:
        return None

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        form.instance.user_set.set(form.cleaned_data["members"])
