"""Puts the product's own admin site in the place of Django's, and Celery in place where it rings for turns."""

from importlib import import_module

from django.conf import settings
from django.contrib.admin import apps


class AdminConfig(apps.AdminConfig):
    default_site = "assistants.admin_site.Site"

    def ready(self) -> None:
        super().ready()
        import_module("taskmonkey.checks")
        if settings.TASKMONKEY["EXECUTOR"] == "celery":
            import_module("taskmonkey.celery")
