"""The settings of the servers that are killed: the real ones, with the ledger's tools and plain static files."""

import os

from taskmonkey.settings import *  # noqa: F403
from taskmonkey.settings import HOME, INSTALLED_APPS, TASKMONKEY

INSTALLED_APPS = [*INSTALLED_APPS, "tests.kit.ledger"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
(HOME / "static").mkdir(parents=True, exist_ok=True)
TASKMONKEY = {**TASKMONKEY, "SOCKETS_PER_USER": int(os.environ.get("TASKMONKEY_SOCKETS_PER_USER", "20"))}
