"""People who sign in."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import UserChangeForm, UserCreationForm
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from assistants import access, clock
from assistants.models import Membership, Role, Tenant, User
from assistants.retention.exporting import export_person
from assistants.retention.removal import check_removable, remove_person
from assistants.setup.people import add_member

from .scope import ScopedAdmin, is_root, tenants_of

SEEN_BY_TEAMS = ((None, {"fields": ("username", ("first_name", "last_name"), "email", "is_active", "last_login")}),)


class NewUserForm(UserCreationForm):
    """A person and their first place in a team."""

    team = forms.ModelChoiceField(queryset=Tenant.objects.all(), label=_("Team"))
    role = forms.ChoiceField(choices=Role.choices, initial=Role.MEMBER, label=_("Role"))

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "first_name", "last_name", "email")


class ChangedUserForm(UserChangeForm):
    class Meta(UserChangeForm.Meta):
        model = User


@admin.register(User)
class UserAdmin(ScopedAdmin, DjangoUserAdmin):
    """A team's admins see their people and add new ones; accounts are the superuser's business.

    A person may belong to several teams, so whoever could set their password could read what is not theirs.
    """

    tenant_path = "memberships__tenant"
    form = ChangedUserForm
    add_form = NewUserForm
    list_display = ("username", "first_name", "last_name", "places", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email", ("language", "theme"))}),
        (
            _("Permissions"),
            {
                "fields": ("is_active", "is_staff", "is_superuser"),
                "description": _(
                    "Staff may enter these pages, and see there what they are admin of. A superuser sets up everything."
                ),
            },
        ),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", ("first_name", "last_name"), "email", "password1", "password2")}),
        (_("Where they belong"), {"fields": (("team", "role"),)}),
    )
    filter_horizontal = ()
    actions = ("export_people",)
    readonly_fields = ("last_login", "date_joined")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # A reader of one team does not learn of the others.
        seen = Membership.objects.filter(tenant__in=tenants_of(request)).select_related("tenant")
        return super().get_queryset(request).distinct().prefetch_related(Prefetch("memberships", queryset=seen))

    def tenant_of(self, obj: Any) -> Tenant | None:
        teams = list(Tenant.objects.filter(memberships__user=obj.pk)[:2])
        return teams[0] if len(teams) == 1 else None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None or is_root(request):
            return self.manages(request, None)
        return obj.memberships.filter(tenant__in=tenants_of(request)).exists()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Django asks without an object before it lets anybody add one.
        return is_root(request) or (obj is None and self.has_add_permission(request))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_root(request)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        found = super().get_fieldsets(request, obj)
        return found if obj is None or is_root(request) else SEEN_BY_TEAMS

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        self.get_visible(request, id)
        return super().user_change_password(request, id, form_url)

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        if obj is None and "team" in form.base_fields:
            form.base_fields["team"].queryset = Tenant.objects.filter(pk__in=[each.pk for each in tenants_of(request)])
        return form

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            add_member(form.instance, form.cleaned_data["team"], role=form.cleaned_data["role"])

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        remove_person(obj, by=request.user, name=request.user.display_name)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for person in queryset:
            self.delete_model(request, person)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Refuses before anything is removed; what was removed is noted by number, for a name in the log would stay."""
        for person in queryset:
            check_removable(person, by=request.user)

    @admin.action(description=_("Write out everything of the chosen people (into the data directory)"), permissions=["delete"])
    def export_people(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Onto the server's disk and not to the browser: who administers accounts reads no conversations."""
        folder = settings.HOME / "exports"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for person in queryset:
            moment = clock.now().strftime("%Y%m%d-%H%M%S")
            written = export_person(person, folder / f"user-{person.pk}-{moment}.zip")
            access.audit("person_exported", tenant_id=None, user=request.user, target=f"user {person.pk}", rows=written.rows)
            self.message_user(request, _("Written to %(file)s.") % {"file": written.target})

    @admin.display(description=_("teams"))
    def places(self, user: Any) -> str:
        return ", ".join(f"{each.tenant} ({each.get_role_display()})" for each in user.memberships.all())
