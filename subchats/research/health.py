"""Whether a research could go ahead: settings, models, keys and explorer, and one small question to each role (A-41)."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from django.db import DatabaseError

from assistants.errors import CodedError
from assistants.llm.check import check_connection
from assistants.llm.hints import safe_hint
from assistants.llm.models import build_model
from assistants.llm.profile import Profile
from assistants.models import Assistant, LLMProfile
from assistants.models.definition import define, profile_for
from assistants.tools.registry import find_tool

from .config import TIMEOUT_MS, Config
from .explorers import look_at_explorer
from .run import REQUIRED
from .setting_out import get_researcher

CATEGORIES = (
    *("config", "model_resolution", "auth_missing", "timeout"),
    *("provider_unreachable", "completion_failed", "subagent_failed", "ok"),
)
"""The first that is found is the one that is reported."""
KEYLESS = ("builtin", "scripted", "local")
_FAILURES = {"MODEL_UNREACHABLE": "provider_unreachable", "MODEL_AUTH": "auth_missing", "MODEL_NOT_FOUND": "model_resolution"}
_PATH = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?[\\/](?:[^\s\\/:\"'“”]+[\\/])*[^\s\\/:\"'“”]+")


@dataclass(frozen=True)
class Model:
    """A role's model. `auth` is env, local_runtime, catalog (a profile's stored key), none or unknown."""

    role: str
    provider: str = ""
    id: str = ""
    auth: str = "unknown"
    category: str = "ok"
    message: str = ""
    profile: Profile | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Probe:
    """How a role answered; `seconds` only if it was asked."""

    role: str
    skipped: bool
    category: str
    message: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Health:
    """What was found. `source` says where the settings came from; `config_error` what is wrong with them."""

    source: str
    config_error: str = ""
    models: tuple[Model, ...] = ()
    probes: tuple[Probe, ...] = ()
    probes_skipped: bool = False

    @property
    def found(self) -> set[str]:
        """Every category that anything here falls into."""
        return {each.category for each in (*self.models, *self.probes)} | ({"config"} if self.config_error else set())

    @property
    def category(self) -> str:
        """The first of `CATEGORIES` among them."""
        return next((each for each in CATEGORIES if each in self.found), "ok")

    @property
    def exit_code(self) -> int:
        """2 for settings and models that can't be found, 1 for any other fault, 0 for none."""
        return {"config": 2, "model_resolution": 2, "ok": 0}.get(self.category, 1)


def check_health(read: Callable[[], Config], *, source: str, skip_probes: bool = False) -> Health:
    """Looks at everything that a research needs and touches no index.

    `read` gives the settings; what it raises is a finding. The probes go one after the other, and only once both roles
    have a model and a key. Never raises for what it finds.
    """
    try:
        config = read()
        researcher = get_researcher(config)
    except CodedError as error:
        return Health(source, config_error=sanitized(error.told), probes_skipped=True)
    except DatabaseError:
        return Health(source, config_error="The database can't be read. Run migrate first.", probes_skipped=True)
    return check_researcher(researcher, skip_probes=skip_probes, timeout_ms=config.timeout_ms, source=config.source)


def check_researcher(
    researcher: Assistant, *, skip_probes: bool = False, timeout_ms: int = TIMEOUT_MS, source: str = "defaults"
) -> Health:
    """The same for one research assistant and its team's explorer."""
    explorer, fault = _explorer(researcher)
    models = (_model("orchestrator", researcher), _model("explorer", explorer))
    asks = not skip_probes and all(each.category == "ok" for each in models)
    probes = tuple(_probe(model, asks=asks, seconds=timeout_ms / 1000, fault=fault) for model in models)
    secrets = [each.profile.api_key for each in models if each.profile]
    return Health(
        source,
        models=tuple(replace(each, message=sanitized(each.message, secrets)) for each in models),
        probes=tuple(replace(each, message=sanitized(each.message, secrets)) for each in probes),
        probes_skipped=not asks,
    )


def sanitized(text: str, secrets: Iterable[str] = ()) -> str:
    """One short line without keys, paths or stacks."""
    for secret in secrets:
        text = text.replace(secret, "…") if secret else text
    return safe_hint(_PATH.sub("…", text.partition("\nTraceback")[0]))


def category_of(code: str, role: str = "orchestrator") -> str:
    """Where a failed model call belongs; what else an explorer fails at is a failure of the explorers."""
    if code.startswith("MODEL_TIMEOUT"):
        return "timeout"
    return _FAILURES.get(code, "completion_failed" if role == "orchestrator" else "subagent_failed")


def _explorer(researcher: Assistant) -> tuple[Assistant | None, str]:
    """The explorer, and why it could not be sent out. One that may not be sent out has no model that would matter."""
    missing = [name for name in REQUIRED if name not in researcher.tools or find_tool(name) is None]
    fault = f"The research assistant lacks {', '.join(missing)}." if missing else ""
    try:
        return look_at_explorer(researcher.tenant), fault
    except CodedError as error:
        return None, error.told


def _model(role: str, assistant: Assistant | None) -> Model:
    if assistant is None:
        return Model(role)
    row_id = assistant.profile_id or assistant.tenant.default_profile_id
    row = LLMProfile.objects.filter(pk=row_id or 0, tenant=assistant.tenant).first()
    try:
        profile = profile_for(define(assistant), assistant.tenant)
        known = Model(role, profile.provider, profile.model or profile.provider, _auth(profile, row), profile=profile)
        if not profile.model and profile.provider != "builtin":
            return replace(known, category="model_resolution", message="The profile names no model.")
        build_model(profile)
    except CodedError as error:
        lacks_key = error.code in ("MODEL_AUTH", "PROFILE_KEY_UNREADABLE")
        category = "auth_missing" if lacks_key else "model_resolution"
        known = Model(role, row.provider, row.model) if row else Model(role)
        return replace(known, auth="none" if lacks_key else "unknown", category=category, message=error.told)
    return known


def _auth(profile: Profile, row: LLMProfile | None) -> str:
    if profile.provider in KEYLESS:
        return "local_runtime"
    if not profile.api_key:
        return "none"
    return "env" if row is None or row.key_variable else "catalog"


def _probe(model: Model, *, asks: bool, seconds: float, fault: str) -> Probe:
    if model.role == "explorer" and fault:
        return Probe(model.role, skipped=True, category="subagent_failed", message=fault)
    if not asks or model.profile is None:
        return Probe(model.role, skipped=True, category=model.category)
    begun = time.monotonic()
    category, message = _ask(model.role, model.profile, seconds)
    return Probe(model.role, skipped=False, category=category, message=message, seconds=time.monotonic() - begun)


def _ask(role: str, profile: Profile, seconds: float) -> tuple[str, str]:
    """One tiny question, by the very way that a turn's own go."""
    try:
        check_connection(profile, seconds=seconds)
    except TimeoutError:
        return "timeout", f"There was no answer within {seconds:g} seconds."
    except CodedError as error:
        return category_of(error.code, role), error.message
    except Exception as error:
        return category_of("", role), f"The question failed ({type(error).__name__})."
    return "ok", ""
