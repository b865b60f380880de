"""Puts the product's own admin site in the place of Django's."""

from django.contrib.admin import apps


class AdminConfig(apps.AdminConfig):
    default_site = "assistants.admin_site.Site"
