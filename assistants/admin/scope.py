"""Keeps every admin page to the tenants that its reader manages."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assistants import access
from assistants.admin_site import Foreign
from assistants.errors import CodedError
from assistants.models import Tenant, User
from assistants.sentences import spoken


def tenants_of(request: HttpRequest) -> list[Tenant]:
    """The tenants that the reader manages, asked once per page."""
    if not hasattr(request, "managed_tenants"):
        request.managed_tenants = list(access.tenants_managed_by(request.user))
    return request.managed_tenants


def is_root(request: HttpRequest) -> bool:
    """Whether the reader administers the whole site."""
    return bool(request.user.is_active and request.user.is_superuser)


class ScopedForm(forms.ModelForm):
    """A form whose object belongs to one tenant, points only into that tenant and keeps the rules of `problems`."""

    tenant: Tenant | None = None
    reader: User | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.tenant and not self.instance.pk and hasattr(self.instance, "tenant_id"):
            self.instance.tenant = self.tenant
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField) and hasattr(field.queryset.model, "tenant_id"):
                field.queryset = field.queryset.filter(tenant=self.tenant)

    def problems(self) -> Iterable[CodedError]:
        """The rules that the object would break as it was entered."""
        return ()

    def _get_validation_exclusions(self) -> set[str]:
        # The tenant is not on the form, but what must be unique in it still has to be checked.
        return super()._get_validation_exclusions() - {"tenant"}

    def _post_clean(self) -> None:
        super()._post_clean()
        if self.errors:
            return
        for problem in self.problems():
            text = spoken(problem.told)
            self.add_error(problem.field if problem.field in self.fields else None, ValidationError(text, problem.code))


class ScopedAdmin(admin.ModelAdmin):
    """The one base of our admin pages: what the reader doesn't manage is neither listed, nor offered, nor changed (S09).

    `tenant_path` leads from the model to its tenant, empty for the tenant itself. Whoever may do what is asked of
    `access`; Django's own model permissions play no part.
    """

    tenant_path = "tenant"
    form = ScopedForm

    # --- rights
    def tenant_of(self, obj: Model) -> Tenant | None:
        found: Any = obj
        for name in filter(None, self.tenant_path.split("__")):
            found = getattr(found, name)
        return found

    def manages(self, request: HttpRequest, obj: Model | None) -> bool:
        """Whether the reader manages the object's tenant; without an object, any tenant at all."""
        if obj is None:
            return is_root(request) or bool(tenants_of(request))
        tenant = self.tenant_of(obj)
        return is_root(request) if tenant is None else access.may(request.user, "manage", tenant)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.manages(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.manages(request, None)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.manages(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.manages(request, obj)

    # --- what is there
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request)
        if is_root(request):
            return found
        path = f"{self.tenant_path}__in" if self.tenant_path else "pk__in"
        return found.filter(**{path: [tenant.pk for tenant in tenants_of(request)]})

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only what the page offers to filter by: any other field, shown or not, could be guessed letter by letter."""
        offered = [each[0] if isinstance(each, tuple) else each for each in self.list_filter]
        is_offered = any(lookup == name or lookup.startswith(f"{name}__") for name in offered)
        return is_offered and super().lookup_allowed(lookup, value, request)

    def get_visible(self, request: HttpRequest, object_id: str) -> Any:
        """The object, if its tenant is managed by the reader. Raises Foreign, which is a 404 and a note, otherwise."""
        found = self.get_object(request, unquote(object_id))
        if found is None:
            raise self.foreign(object_id)
        return found

    def foreign(self, object_id: str) -> Foreign:
        try:
            row = self.model._default_manager.filter(pk=unquote(object_id)).first()
        except (ValueError, ValidationError):
            row = None
        tenant = self.tenant_of(row) if row else None
        return Foreign(tenant.pk if tenant else None, f"{self.opts.model_name} {object_id}")

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """What goes along is counted, not listed: a folder has ten thousand passages. Its own rights aren't asked for,
        since who may delete the whole may delete its parts."""
        _, counts, _, protected = super().get_deleted_objects(objs, request)
        return [str(each) for each in objs], counts, set(), protected

    # --- pages
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        for object_id in request.POST.getlist(ACTION_CHECKBOX_NAME):
            self.get_visible(request, object_id)
        return super().changelist_view(request, extra_context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        tenant = None
        if object_id is not None:
            tenant = self.tenant_of(self.get_visible(request, object_id))
        elif self.tenant_path == "tenant" and self.has_add_permission(request):
            tenant = self.tenant_to_add_to(request)
            if tenant is None:
                return self.choose_tenant(request)
        if tenant and not is_root(request):
            self.refuse_foreign_links(request, tenant)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def refuse_foreign_links(self, request: HttpRequest, tenant: Tenant) -> None:
        """The form offers no other tenant's objects; whoever sends their numbers all the same is noted."""
        for field in (*self.opts.fields, *self.opts.many_to_many):
            model: Any = field.related_model
            if hasattr(model, "tenant_id"):
                sent = [each for each in request.POST.getlist(field.name) if each.isascii() and each.isdigit()]
                foreign = model._default_manager.filter(pk__in=sent).exclude(tenant=tenant).first()
                if foreign:
                    raise Foreign(foreign.tenant_id, f"{model._meta.model_name} {foreign.pk}")

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        self.get_visible(request, object_id)
        return super().delete_view(request, object_id, extra_context)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        self.get_visible(request, object_id)
        return super().history_view(request, object_id, extra_context)

    def tenant_to_add_to(self, request: HttpRequest) -> Tenant | None:
        """The tenant of a new object: the one that was chosen, else the only one. Raises Foreign for any other."""
        wanted = request.GET.get("tenant") or request.POST.get("tenant")
        tenants = tenants_of(request)
        if not wanted:
            return tenants[0] if len(tenants) == 1 else None
        for tenant in tenants:
            if str(tenant.pk) == wanted:
                return tenant
        known = wanted.isascii() and wanted.isdigit() and Tenant.objects.filter(pk=int(wanted[:18])).first()
        raise Foreign(known.pk if known else None, f"tenant {wanted}")

    def choose_tenant(self, request: HttpRequest) -> HttpResponse:
        if request.method != "GET":
            raise PermissionDenied("Say which team it is for.")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Add {self.opts.verbose_name}",
            "tenants": tenants_of(request),
        }
        return render(request, "admin/choose_tenant.html", context)

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        # A column that says the same in every row says nothing.
        alone = len(tenants_of(request)) == 1
        return [each for each in super().get_list_display(request) if not (alone and each == "tenant")]

    # --- the form
    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        form.reader = request.user
        if obj is not None:
            form.tenant = self.tenant_of(obj)
        elif self.tenant_path == "tenant":
            form.tenant = self.tenant_to_add_to(request)
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        fields = list(super().get_readonly_fields(request, obj))
        return [*fields, "tenant"] if self.tenant_path == "tenant" and "tenant" not in fields else fields

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        for link in ("can_add_related", "can_change_related", "can_delete_related", "can_view_related"):
            if field is not None and hasattr(field.widget, link):
                setattr(field.widget, link, False)
        return field

    # --- the audit
    def note(self, request: HttpRequest, done: str, obj: Model, **detail: object) -> None:
        """Notes what the reader did to the object; names of fields, never their content."""
        tenant = self.tenant_of(obj)
        access.audit(
            f"{self.opts.model_name}.{done}",
            tenant_id=tenant.pk if tenant else None,
            user=request.user,
            target=f"{self.opts.model_name} {obj.pk}",
            **detail,
        )

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self.note(request, "added", obj, changes=message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self.note(request, "changed", obj, changes=message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self.note(request, "deleted", obj, name=str(obj))
        return super().log_deletions(request, queryset)


class ReadOnly:
    """Pages that only show."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
