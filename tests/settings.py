"""The site's settings for tests: a throw-away home, turns run when a test says so, cheap password hashes."""

import os
import tempfile

os.environ.setdefault("TASKMONKEY_HOME", tempfile.mkdtemp(prefix="taskmonkey-test-"))
os.environ.setdefault("TASKMONKEY_SECRET_KEY", "only-for-tests")
os.environ.setdefault("TASKMONKEY_EXECUTOR", "manual")
os.environ.setdefault("TASKMONKEY_SQLITE_SYNCHRONOUS", "OFF")

from taskmonkey.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# The middleware that serves static files wants its folder to be there, even if nobody has collected them.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405
