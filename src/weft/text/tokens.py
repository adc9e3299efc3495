"""Tokens, as the models count them: what chunks are measured in, and budgets are kept in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


def count(text: str) -> int:
    """How many tokens of o200k the text has. Nothing is fetched for it, and half characters count as well."""
    try:
        return _counter()(text)
    except UnicodeEncodeError:
        return _counter()(text.encode(errors="replace").decode())


@cache
def _counter() -> Callable[[str], int]:
    # Loading the tables takes more than a second, so only who counts pays for it. The binding, not the wrapper round
    # it: the wrapper refuses texts of a million characters.
    from bpe_openai._bindings import tokenizer_for_encoding  # type: ignore[import-untyped]

    counter: Callable[[str], int] = tokenizer_for_encoding("o200k_base").count
    return counter
