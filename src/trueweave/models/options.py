"""Options of chat models (`ModelOptions`) in requests: each provider has some of them, under names of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from trueweave.core.errors import ConfigError
from trueweave.core.model_options import ModelOptions

NO_OPTIONS = ModelOptions()


def variant(options: ModelOptions) -> str:
    """The options as canonical text; empty if there are none."""
    return json.dumps(options, sort_keys=True) if options else ""


def check_options(model: str, options: ModelOptions, known: Iterable[str]) -> None:
    """Raise ConfigError if an option is set that is not among the `known` ones of the provider."""
    takes = sorted(known)
    for name in options:
        if name not in takes:
            offers = f"It has {' and '.join(takes)}" if takes else "It has none of them"
            raise ConfigError(
                f"model_options sets {name} for {model}, but its provider has no such option. {offers}: remove {name} "
                "from the role, or name another model for it."
            )


def openai_fields(provider: str, model: str, options: ModelOptions) -> dict[str, Any]:
    """The fields of a request to a server with OpenAI's API. Thinking is not part of that API: only servers that have
    their own field for it take `think`."""
    makers = dict(_OPENAI_LIKE)
    if provider == "mistral":
        makers["seed"] = lambda seed: {"random_seed": seed}
    if provider in _THINK:
        makers["think"] = _THINK[provider]
    check_options(model, options, makers)
    fields: dict[str, Any] = {}
    for name, value in options.items():
        fields |= makers[name](value)
    return fields


def _template(think: Any) -> Mapping[str, Any]:
    """For servers that render the prompt with the chat template of the model."""
    return {"chat_template_kwargs": {"enable_thinking": think}}


_OPENAI_LIKE: dict[str, Any] = {"top_p": lambda value: {"top_p": value}, "seed": lambda value: {"seed": value}}
_THINK: dict[str, Any] = {
    "vllm": _template,
    "llamacpp": _template,
    "openrouter": lambda think: {"reasoning": {"enabled": think}},
}
