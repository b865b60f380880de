"""The settings of the servers that are killed: the real ones, with the ledger's tools and plain static files."""

import faulthandler
import os
import signal
from datetime import datetime, timedelta

from django.utils import timezone

from taskmonkey.settings import *  # noqa: F403
from taskmonkey.settings import DATABASES, HOME, INSTALLED_APPS, TASKMONKEY

INSTALLED_APPS = [*INSTALLED_APPS, "tests.kit.ledger"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
(HOME / "static").mkdir(parents=True, exist_ok=True)
TASKMONKEY = {**TASKMONKEY, "SOCKETS_PER_USER": int(os.environ.get("TASKMONKEY_SOCKETS_PER_USER", "20"))}

# How long SQLite waits for another writer.
if "TEST_SQLITE_SECONDS" in os.environ:
    DATABASES["default"]["OPTIONS"]["timeout"] = int(os.environ["TEST_SQLITE_SECONDS"])


# This machine's clock as this process sees it: the file says by how many seconds it is wrong, and may be written any time.
def shifted_now() -> datetime:
    try:
        with open(os.environ["TEST_CLOCK_FILE"]) as file:
            shift = float(file.read() or 0)
    except FileNotFoundError:
        shift = 0.0
    return right_now() + timedelta(seconds=shift)


right_now = timezone.now
timezone.now = shifted_now

# `kill -USR1` writes where all threads are into the log.
faulthandler.register(signal.SIGUSR1)
