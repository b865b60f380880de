"""The site's settings for tests: a throw-away home, turns run when a test says so, cheap password hashes."""

import os
import tempfile

# No test may reach a provider with the keys of whoever runs it.
for variable in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_"))]:
    del os.environ[variable]
os.environ.setdefault("TASKMONKEY_MODEL", "builtin")
if "TASKMONKEY_HOME" not in os.environ:
    os.environ["TASKMONKEY_HOME"] = tempfile.mkdtemp(prefix="taskmonkey-test-")
# Workers have databases of their own, in which document roots have the same numbers: each mirrors them into its own folder.
worker, home = os.environ.get("PYTEST_XDIST_WORKER", ""), os.environ["TASKMONKEY_HOME"]
if os.path.basename(home) != worker:
    os.environ["TASKMONKEY_HOME"] = os.path.join(home, worker)
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
