"""Finds out which model is at hand when no profile was set up, and says in plain words which one answers."""

import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import httpx2

from assistants.llm.profile import Profile

OPENAI_DEFAULT = "gpt-5.6-terra"
ANTHROPIC_DEFAULT = "claude-sonnet-5-5"
# Where local model servers listen by themselves: Ollama, LM Studio, llama.cpp, vLLM.
LOCAL_PORTS = (11434, 1234, 8080, 8000)
PROBE_SECONDS = 0.3
KEEP_SECONDS = 60.0
MAX_LIST_BYTES = 1024 * 1024

Reader = Literal["admin", "member", "visitor"]

BUILTIN = Profile(provider="builtin", model="builtin", label="Built-in engine")

_BUILTIN = (
    "The built-in engine answers: rules and search, no language model. It asks back, delegates and quotes your documents, but"
    " it knows nothing else and writes nothing of its own."
)
_HOW_TO_CONNECT = (
    "To connect a language model, add a profile in the admin pages, or start the server with OPENAI_API_KEY or"
    " ANTHROPIC_API_KEY set, or with a local model server running."
)


@dataclass(frozen=True)
class _Found:
    profile: Profile
    at: float


_lock = threading.Lock()
_found: _Found | None = None
_looking = False


def detect_profile() -> Profile:
    """Gives the model at hand: OPENAI_API_KEY (or OPENAI_BASE_URL), ANTHROPIC_API_KEY, a local server, the built-in engine.

    Looks once and then again every 60 s in the background, so that a person waits for it only with the very first
    message: 0.3 s at most, or 5 s where OPENAI_BASE_URL names another machine and OPENAI_MODEL nothing. With
    TASKMONKEY_MODEL=builtin nothing is looked for.
    """
    global _found, _looking
    if os.environ.get("TASKMONKEY_MODEL", "").strip().lower() == "builtin":
        return BUILTIN
    with _lock:
        if _found is None:
            _found = _Found(_look(os.environ), time.monotonic())
        elif time.monotonic() - _found.at > KEEP_SECONDS and not _looking:
            _looking = True
            threading.Thread(target=_look_again, name="detect-model", daemon=True).start()
        return _found.profile


def forget() -> None:
    """Forgets what was found, so that the next call looks again."""
    global _found
    with _lock:
        _found = None


def describe(profile: Profile, *, to: Reader = "admin") -> str:
    """Says in one or two sentences which model answers, and of the built-in engine what it cannot do; to admins also how to
    connect another one, to visitors neither names nor addresses."""
    if profile.provider == "builtin":
        return " ".join([_BUILTIN, _HOW_TO_CONNECT]) if to == "admin" else _BUILTIN
    if profile.provider == "scripted":
        return f"A scripted model answers ({profile.model}): it follows a script and understands nothing."
    if to == "visitor":
        return "A language model answers."
    host = httpx2.URL(profile.base_url).netloc.decode() if profile.base_url else ""
    if profile.provider == "local":
        return f"{profile.model} answers, from the model server at {host}."
    company = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Google"}.get(profile.provider, profile.provider)
    return f"{profile.model} answers, from {host or company}."


def _look_again() -> None:
    global _found, _looking
    found = _Found(_look(os.environ), time.monotonic())
    with _lock:
        _found, _looking = found, False


def _look(environment: Mapping[str, str]) -> Profile:
    key, url = environment.get("OPENAI_API_KEY", ""), environment.get("OPENAI_BASE_URL", "")
    if key or url:
        model = environment.get("OPENAI_MODEL") or (url and _first_model(url, key)) or OPENAI_DEFAULT
        return Profile(provider="openai", model=model, label=model, base_url=url, api_key=key)
    if key := environment.get("ANTHROPIC_API_KEY", ""):
        model = environment.get("ANTHROPIC_MODEL") or ANTHROPIC_DEFAULT
        url = environment.get("ANTHROPIC_BASE_URL", "")
        return Profile(provider="anthropic", model=model, label=model, base_url=url, api_key=key)
    return _local_profile(environment) or BUILTIN


def _local_profile(environment: Mapping[str, str]) -> Profile | None:
    # This server itself listens at one of these ports by default.
    own = environment.get("PORT") or "8000"
    urls = [f"http://127.0.0.1:{port}/v1" for port in LOCAL_PORTS if str(port) != own]
    with ThreadPoolExecutor(len(urls), thread_name_prefix="probe") as pool:
        models = list(pool.map(_first_model, urls))
    for url, model in zip(urls, models, strict=True):
        if model:
            return Profile(provider="local", model=model, label=model, base_url=url)
    return None


def _first_model(url: str, key: str = "") -> str:
    """The first model that can chat, of those which the server lists; empty when it is no model server."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    is_local = httpx2.URL(url).host in {"127.0.0.1", "localhost", "::1"}
    try:
        with (
            httpx2.Client(timeout=PROBE_SECONDS if is_local else 5, trust_env=not is_local) as client,
            client.stream("GET", url.rstrip("/") + "/models", headers=headers) as answer,
        ):
            if answer.status_code != 200 or int(answer.headers.get("content-length", 0)) > MAX_LIST_BYTES:
                return ""
            answer.read()
            names = [entry["id"] for entry in answer.json()["data"]]
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return ""
    chatting = (name for name in names if isinstance(name, str) and name and "embed" not in name.lower())
    return next(chatting, "")
