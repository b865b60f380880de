"""Makes a profile into the object that speaks to its provider. Calls are counted by us, so no SDK retries anything."""

import importlib
import os
import re
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from assistants.llm.connections import http_client, http_timeout
from assistants.llm.profile import Profile
from assistants.llm.reply import ModelError

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
GOOGLE_URL = "https://generativelanguage.googleapis.com"
# The SDKs take a missing key, or a missing address, from the environment: this process's own key must never go to
# the address of a tenant's profile. So both are always given.
NO_KEY = "none"

# What any provider and this one need imported. The first import takes over a second, which would freeze every stream on the
# loop, and would hold up the first page after a start.
STREAM_MODULE = "assistants.llm.stream"
PROVIDER_MODULES = {
    "openai": ("assistants.llm.openai_chat", "openai.resources.chat.completions"),
    "local": ("assistants.llm.openai_chat", "openai.resources.chat.completions"),
    "anthropic": ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic", "anthropic.resources.beta.messages"),
    "google": ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
    "scripted": ("assistants.llm.scripted",),
    "builtin": ("assistants.llm.builtin",),
}
# Of two threads that import parts of one library at once, one might see a part that is half made.
_loading = threading.Lock()


def warm_up(providers: Iterable[str]) -> None:
    """Imports what these providers need and opens the shared HTTP client; a second call costs nothing.

    Unknown providers are passed over.
    """
    with _loading:
        for provider in set(providers):
            for module in (STREAM_MODULE, *PROVIDER_MODULES.get(provider, ())):
                importlib.import_module(module)
    http_client()


@lru_cache(maxsize=256)
def build_model(profile: Profile) -> "Model":
    """Gives the model of a profile, the same one for equal profiles.

    Raises ModelError MODEL_AUTH for a missing or impossible key and MODEL_REFUSED for a profile that cannot work.
    """
    make = _MAKERS.get(profile.provider)
    if make is None:
        known = ", ".join(sorted(_MAKERS))
        raise _unusable(f"There is no provider {profile.provider!r}; known are {known}.", "Choose a provider.")
    if not profile.api_key.isprintable() or not profile.api_key.isascii():
        raise _bad_key("The key for {} holds characters that no key has.", profile)
    if profile.base_url and not _is_address(profile.base_url):
        raise _unusable("The address of the model's server is not valid.", "Enter a base URL such as https://host/v1.")
    return make(profile)


# The models hold on to the client of this process.
os.register_at_fork(after_in_child=build_model.cache_clear)


def request_settings(profile: Profile) -> "ModelSettings":
    """What every request of this profile carries along."""
    if profile.provider in {"scripted", "builtin"}:
        return {}
    return {"max_tokens": profile.max_output_tokens}


def _openai(profile: Profile) -> "Model":
    from assistants.llm.openai_chat import OpenAIChat
    from assistants.llm.openai_client import Client

    if profile.provider == "local" and not profile.base_url:
        raise _unusable("A local model needs the address of its server.", "Enter a base URL such as http://127.0.0.1:11434/v1.")
    if not profile.base_url:
        _require_key(profile)
    client = Client(
        api_key=profile.api_key or NO_KEY,
        base_url=profile.base_url or OPENAI_URL,
        max_retries=0,
        timeout=http_timeout(profile.limits),
        http_client=http_client(),
    )
    return OpenAIChat(profile.model, client, compatible=(profile.base_url or OPENAI_URL).rstrip("/") != OPENAI_URL)


def _anthropic(profile: Profile) -> "Model":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    if not profile.base_url:
        _require_key(profile)
    client = AsyncAnthropic(
        api_key=profile.api_key or NO_KEY,
        base_url=profile.base_url or ANTHROPIC_URL,
        max_retries=0,
        timeout=http_timeout(profile.limits),
        http_client=http_client(),
    )
    return AnthropicModel(profile.model, provider=AnthropicProvider(anthropic_client=client))


def _google(profile: Profile) -> "Model":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    if not profile.base_url:
        _require_key(profile)
    provider = GoogleProvider(
        api_key=profile.api_key or NO_KEY, base_url=profile.base_url or GOOGLE_URL, http_client=http_client()
    )
    return GoogleModel(profile.model, provider=provider)


def _scripted(profile: Profile) -> "Model":
    from assistants.llm.scripted import ScriptedModel

    return ScriptedModel(profile.model)


def _builtin(profile: Profile) -> "Model":
    from assistants.llm.builtin import builtin_model

    return builtin_model(profile)


_MAKERS: dict[str, Callable[[Profile], "Model"]] = {
    "openai": _openai,
    "local": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "scripted": _scripted,
    "builtin": _builtin,
}


def _is_address(url: str) -> bool:
    if re.search(r"[\s\\]", url):
        return False
    try:
        # The HTTP client's own parser lets a lone bracket pass, and fails over it later.
        host, parsed = urlsplit(url).hostname, httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        return False
    return parsed.scheme in {"http", "https"} and bool(parsed.host) and parsed.host == host


def _require_key(profile: Profile) -> None:
    if not profile.api_key:
        raise _bad_key("There is no key for {}.", profile)


def _bad_key(sentence: str, profile: Profile) -> ModelError:
    return ModelError(
        code="MODEL_AUTH",
        message=sentence.format(profile.label or profile.provider),
        field="api_key",
        fix="Ask an administrator to enter the provider's key.",
        correctable=False,
    )


def _unusable(message: str, fix: str) -> ModelError:
    return ModelError(code="MODEL_REFUSED", message=message, fix=fix, correctable=False)
