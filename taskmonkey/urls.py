"""Every address of the site."""

from django.apps import apps
from django.contrib import admin
from django.urls import include, path

handler400 = "assistants.views.unreadable.bad_request"
urlpatterns = [path("admin/", admin.site.urls), path("", include("assistants.urls"))]
if apps.is_installed("subchats"):
    urlpatterns.append(path("", include("subchats.urls")))
