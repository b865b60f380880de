"""Teams with their members, and the domains of their work."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Count, Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from assistants import access
from assistants.errors import CodedError
from assistants.models import Domain, Membership, Tenant, User
from assistants.setup.rules import domain_problems, tenant_problems

from .scope import ScopedAdmin, ScopedForm, is_root, tenants_of


class TenantForm(ScopedForm):
    def problems(self) -> Iterable[CodedError]:
        return tenant_problems(self.instance)


class MembershipInline(admin.StackedInline):
    """Who belongs to the team. A team's own admin chooses among the people of their teams; strangers stay unseen."""

    model = Membership
    extra = 0
    fields = (("user", "role"),)
    verbose_name, verbose_name_plural = _("member"), _("members")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or access.may(request.user, "manage", obj)

    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            people = User.objects.order_by("username")
            known = people.filter(memberships__tenant__in=tenants_of(request)).distinct()
            kwargs["queryset"] = people if is_root(request) else known
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        for link in ("can_add_related", "can_change_related", "can_delete_related", "can_view_related"):
            if field is not None and hasattr(field.widget, link):
                setattr(field.widget, link, False)
        return field


@admin.register(Tenant)
class TenantAdmin(ScopedAdmin):
    """Only the site's superuser makes and deletes teams; a team's admins look after their own."""

    tenant_path = ""
    form = TenantForm
    inlines = (MembershipInline,)
    list_display = ("name", "slug", "default_profile", "members", "currency")
    list_select_related = ("default_profile",)
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fieldsets = (
        (
            None,
            {
                "fields": ("name", "slug", "default_profile", ("currency", "keep_days")),
                "description": _(
                    "A tenant is one team: its people, assistants, documents and conversations stay among themselves."
                    " An admin sets it up (and needs the staff status to enter these pages), a member chats, and whoever"
                    " is read-only opens what was shared with them."
                ),
            },
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_root(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_root(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return () if is_root(request) else ("slug",)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Sequence[str]]:
        return {} if obj else super().get_prepopulated_fields(request, obj)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(member_count=Count("memberships"))

    def note(self, request: HttpRequest, done: str, obj: Model, **detail: object) -> None:
        if done == "deleted":  # the team's own entries go with it
            access.audit("tenant.deleted", tenant_id=None, user=request.user, target=f"tenant {obj.pk}", **detail)
        else:
            super().note(request, done, obj, **detail)

    @admin.display(description=_("members"), ordering="member_count")
    def members(self, tenant: Any) -> int:
        return tenant.member_count


class DomainForm(ScopedForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "supervisor" in self.fields:
            field: Any = self.fields["supervisor"]
            field.queryset = field.queryset.filter(domain_id=self.instance.pk or 0)
            field.help_text = _("Leads the domain. One of the assistants that belong to it, so put them in first.")

    def problems(self) -> Iterable[CodedError]:
        return domain_problems(self.instance)


@admin.register(Domain)
class DomainAdmin(ScopedAdmin):
    form = DomainForm
    list_display = ("name", "slug", "tenant", "supervisor", "assistants_in_it")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("tenant", "supervisor")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fieldsets = ((None, {"fields": ("tenant", "name", "slug", "description", "supervisor")}),)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(assistant_count=Count("assistants"))

    @admin.display(description=_("assistants"), ordering="assistant_count")
    def assistants_in_it(self, domain: Any) -> int:
        return domain.assistant_count
