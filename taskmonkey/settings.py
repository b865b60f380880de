"""Settings: everything comes from the environment, and works with nothing set."""

import os
import secrets
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from assistants import logs
from taskmonkey.databases import read_database_url

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("TASKMONKEY_HOME", BASE_DIR / "data")).resolve()


def env_flag(name: str, *, default: bool) -> bool:
    """Reads a yes/no variable: 1, true, yes and on mean yes."""
    value = os.environ.get(name, "").strip().lower()
    return value in {"1", "true", "yes", "on"} if value else default


def env_list(name: str, *, default: str) -> list[str]:
    """Reads a comma-separated variable."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def get_secret_key() -> str:
    """Takes the key from the environment, else from the data directory, where the first start makes one."""
    if key := os.environ.get("TASKMONKEY_SECRET_KEY"):
        return key
    path = HOME / "secret.key"
    if not path.exists():
        HOME.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(50))
    return path.read_text().strip()


DEBUG = env_flag("TASKMONKEY_DEBUG", default=False)
SECRET_KEY = get_secret_key()
ALLOWED_HOSTS = env_list("TASKMONKEY_HOSTS", default="localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("TASKMONKEY_ORIGINS", default="")

INSTALLED_APPS = [
    "daphne",
    "taskmonkey.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "lucide",
    "assistants",
    "subchats",
]
# A single assistant chats without the delegation app; a test takes it out this way.
if env_flag("TASKMONKEY_WITHOUT_SUBCHATS", default=False):
    INSTALLED_APPS.remove("subchats")

MIDDLEWARE = [
    # Outermost, so that what the others refuse by themselves has these headers too (S24).
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "taskmonkey.handlers.StaticFiles",
    "assistants.middleware.private_pages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "assistants.middleware.CodedErrors",
]

ROOT_URLCONF = "taskmonkey.urls"
ASGI_APPLICATION = "taskmonkey.asgi.application"
AUTH_USER_MODEL = "assistants.User"
AUTHENTICATION_BACKENDS = ["taskmonkey.sign_in.People"]
SESSION_ENGINE = "taskmonkey.sign_in"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
# How long a printed sign-in link may be used, in seconds.
PASSWORD_RESET_TIMEOUT = 24 * 3600

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": read_database_url(os.environ.get("DATABASE_URL", ""), home=HOME, base=BASE_DIR)}
# Where there are several processes, hints travel over Redis: what changed, text that grows, and turns to look at. Without
# it a single process keeps them to itself. Nothing is kept there that could be lost.
REDIS_URL = os.environ.get("REDIS_URL", "")
REDIS_PREFIX = os.environ.get("TASKMONKEY_REDIS_PREFIX", "taskmonkey:")
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": REDIS_PREFIX,
    # A broker that hangs must hold up nobody for longer.
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "max_retries": 1,
}
CELERY_TASK_DEFAULT_QUEUE = "turns"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = os.environ.get("TASKMONKEY_TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = HOME / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "taskmonkey.assets.HashedModules"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Off on a laptop, where the page is plain http; on wherever the site is reached by https.
HTTPS = env_flag("TASKMONKEY_HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Without a mail server of its own the site writes each mail into a file: nothing is sent that nobody set up.
EMAIL_HOST = os.environ.get("TASKMONKEY_MAIL_HOST", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'filebased'}.EmailBackend"
EMAIL_FILE_PATH = HOME / "outbox"
EMAIL_PORT = int(os.environ.get("TASKMONKEY_MAIL_PORT", "587"))
EMAIL_HOST_USER = os.environ.get("TASKMONKEY_MAIL_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("TASKMONKEY_MAIL_PASSWORD", "")
EMAIL_USE_TLS = env_flag("TASKMONKEY_MAIL_TLS", default=True)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = os.environ.get("TASKMONKEY_MAIL_FROM", "taskmonkey@localhost")

# Text for people or, for programs, `json`. With DEBUG, on a developer's own machine, the words of exceptions are shown too.
LOGGING = logs.set_up(
    os.environ.get("TASKMONKEY_LOG_LEVEL", "INFO").upper(), os.environ.get("TASKMONKEY_LOG_FORMAT", ""), tell_errors=DEBUG
)

# Figures and traces, both off unless set: who may read /metrics, and whether to trace (where to, say the OTEL_ variables).
METRICS_TOKEN = os.environ.get("TASKMONKEY_METRICS_TOKEN", "")
TRACES = env_flag("TASKMONKEY_TRACES", default=False)
TRACE_RATIO = float(os.environ.get("TASKMONKEY_TRACE_RATIO", "1"))

# --- the product -----------------------------------------------------------------------------------------------------
# Every bound that keeps a turn, a tree of turns and a socket finite. Each has a test.
TASKMONKEY: dict[str, Any] = {
    "EXECUTOR": os.environ.get("TASKMONKEY_EXECUTOR", "inprocess"),
    "TURN_THREADS": int(os.environ.get("TASKMONKEY_TURN_THREADS", "256")),
    "HEARTBEAT_SECONDS": float(os.environ.get("TASKMONKEY_HEARTBEAT_SECONDS", "3")),
    "LEASE_SECONDS": float(os.environ.get("TASKMONKEY_LEASE_SECONDS", "10")),
    # A look into the database for what hints of other processes missed.
    "LOOK_SECONDS": float(os.environ.get("TASKMONKEY_LOOK_SECONDS", "2.5")),
    "SWEEP_SECONDS": float(os.environ.get("TASKMONKEY_SWEEP_SECONDS", "5")),
    "MAX_ATTEMPTS": 3,
    "MAX_STEPS": 50,
    "MAX_REPEATED_CALLS": 3,
    "MAX_BAD_CALL_ROUNDS": 3,
    "MAX_CALLS_PER_REPLY": 32,
    "MAX_MESSAGE_BYTES": 256 * 1024,
    "MAX_REPLY_CHARS": 2 * 1024 * 1024,
    "MAX_ARGUMENT_BYTES": 1024 * 1024,
    "MAX_RESULT_STORED_BYTES": 2 * 1024 * 1024,
    "MAX_RESULT_SHOWN_CHARS": 64 * 1024,
    "TOOL_SECONDS": 60,
    "TURN_SECONDS": 30 * 60,
    "MAX_DEPTH": 2,
    # Sub-chats that one call opens, those of a turn that are at work at once, and all assistants of a tree.
    "MAX_FAN_OUT": 8,
    "MAX_SPAWNS_PER_TURN": 8,
    "MAX_AGENTS_PER_TREE": 32,
    "STRICT_GRANTS": True,
    # Tokens of one turn with everything below it, and what of them only the turn at the top may use, so that it can answer.
    "TURN_TOKENS": int(os.environ.get("TASKMONKEY_TURN_TOKENS", "120000")),
    # How often explorers may be sent out again for one question, after the first time.
    "RESEARCH_FOLLOW_UPS": 3,
    "ROOT_RESERVE_TOKENS": 4000,
    # What a person adds at a time to a turn that has used up its tokens.
    "TOP_UP_TOKENS": 60_000,
    # A sub-chat is cut off after so long without a sign of life, and after so long in all.
    "SUBCHAT_IDLE_SECONDS": float(os.environ.get("TASKMONKEY_SUBCHAT_IDLE_SECONDS", "60")),
    "SUBCHAT_WALL_SECONDS": float(os.environ.get("TASKMONKEY_SUBCHAT_WALL_SECONDS", "600")),
    "SOCKET_FRAME_BYTES": 64 * 1024,
    # The longest reply as HTML, with room to spare.
    "SOCKET_MESSAGE_BYTES": 16 * 1024 * 1024,
    "SOCKETS_PER_USER": 20,
    # What may wait for a reader who is slow; its sender waits from there on.
    "SOCKET_QUEUE_BYTES": 1024 * 1024,
    "VISITOR_MESSAGES_PER_HOUR": 30,
    "ALLOW_FETCH_URL": env_flag("TASKMONKEY_ALLOW_FETCH_URL", default=False),
    # Where mail may go beside the team's own members.
    "MAIL_DOMAINS": [each.lower().lstrip("@") for each in env_list("TASKMONKEY_MAIL_DOMAINS", default="")],
}
