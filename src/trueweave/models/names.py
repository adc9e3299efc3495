"""Names of models, `provider/model`, and where each provider is found.

    openai/gpt-4o-mini    ollama/llama3.1:8b    vllm/Qwen/Qwen3-8B    onnx/models/all-MiniLM-L6-v2
    local/bge-small-en-v1.5

Nothing here reads the environment: a provider says which variable usually holds its key, and the caller passes the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit, urlunsplit

from trueweave.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Provider:
    """Who runs a model: where, under which variable's key, and whether on the user's own machine, for nothing."""

    name: str
    url: str = ""
    key_variable: str = ""
    local: bool = False


_KNOWN = (
    Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Provider("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Provider("jina", "https://api.jina.ai/v1", "JINA_API_KEY"),
    Provider("cohere", "https://api.cohere.com/v2", "COHERE_API_KEY"),
    Provider("ollama", "http://127.0.0.1:11434/v1", local=True),
    Provider("vllm", "http://127.0.0.1:8000/v1", local=True),
    Provider("llamacpp", "http://127.0.0.1:8080/v1", local=True),
    Provider("lmstudio", "http://127.0.0.1:1234/v1", local=True),
    Provider("onnx", local=True),
    Provider("local", local=True),
)
PROVIDERS: Mapping[str, Provider] = MappingProxyType({provider.name: provider for provider in _KNOWN})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address, with the key that opens it."""

    provider: Provider
    model: str
    url: str
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.provider.name}/{self.model}"

    @property
    def root(self) -> str:
        """The server's address without the `/v1` of what it has in common with OpenAI."""
        return self.url.removesuffix("/v1")

    def __str__(self) -> str:
        """The model and its address, fit for a message: without user, password or query."""
        parts = urlsplit(self.url)
        host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
        return f"{self.name} at {urlunsplit((parts.scheme, host, parts.path, '', ''))}" if self.url else self.name


def provider_of(name: str) -> Provider | None:
    """Who runs the model of that name; None when it is of a provider that Trueweave does not know."""
    return PROVIDERS.get(name.partition("/")[0])


def endpoint(name: str, *, url: str | None = None, key: str | None = None) -> Endpoint:
    """The model of that name, at its provider's usual address or at `url`.

    A provider that is not known needs a `url`. A key is needed where the provider's own address wants one.
    """
    provider_name, _, model = name.partition("/")
    if not provider_name or not model:
        raise ConfigError(f"{name!r} is not the name of a model. Write provider/model, as in openai/gpt-4o-mini.")
    provider = provider_of(name)
    if provider is None and not url:
        raise ConfigError(
            f"{name!r} is of a provider that Trueweave does not know: {provider_name}. It knows "
            f"{', '.join(PROVIDERS)}. Use one of these, or set the URL of a server that speaks OpenAI's API."
        )
    provider = provider or Provider(provider_name)
    if provider.key_variable and not url and not key:
        raise ConfigError(f"{name} needs a key. Set {provider.key_variable} to yours.")
    key = (key or "").strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise ConfigError(f"the key for {name} holds a space or a character that no key has. Copy it again.")
    return Endpoint(provider, model, _address(provider, url) if url else provider.url, key)


def _address(provider: Provider, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url!r} is not the URL of a model server. It must look like http://127.0.0.1:8000/v1.")
    plain = url.rstrip("/")
    return f"{plain}/v1" if provider.name == "ollama" and not plain.endswith("/v1") else plain
