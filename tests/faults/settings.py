"""The settings of the servers that are killed: the real ones, with the ledger's tools and plain static files."""

import os

from taskmonkey.settings import *  # noqa: F403
from taskmonkey.settings import INSTALLED_APPS, TASKMONKEY

INSTALLED_APPS = [*INSTALLED_APPS, "tests.kit.ledger"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
TASKMONKEY = {**TASKMONKEY, "SWEEP_SECONDS": float(os.environ.get("TASKMONKEY_SWEEP_SECONDS", "0.5"))}
