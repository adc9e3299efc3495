"""Counting tokens, the unit of chunk sizes and budgets, as models do."""

from __future__ import annotations

from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Protocol

_LONGEST = 256  # characters: more than any token of o200k has


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


def count(text: str) -> int:
    """The number of o200k tokens of a text. Nothing is downloaded for this, and unpaired surrogates are counted too."""
    try:
        return _tokenizer().count(text)
    except UnicodeEncodeError:
        return _tokenizer().count(text.encode(errors="replace").decode())


def count_within(text: str, most: int) -> int | None:
    """The number of tokens of a text, or None if it has more than `most`. The tokenizer cannot be interrupted, so a
    text that is surely too long is not counted."""
    if len(text) > _LONGEST * most:
        return None
    size = count(text)
    return None if size > most else size


@cache
def _tokenizer() -> _Tokenizer:
    # Load only the compiled module: the package around it builds all its tables once more in Python, which takes more
    # than a second and twice the memory, and its wrapper rejects texts of a million characters.
    package = find_spec("bpe_openai")
    assert package is not None, "it is a dependency"
    places = [Path(place) for place in package.submodule_search_locations or ()]
    names = [place / f"_bindings{ending}" for place in places for ending in EXTENSION_SUFFIXES]
    file = next(name for name in names if name.is_file())
    spec = spec_from_file_location("bpe_openai._bindings", file)
    assert spec is not None, f"{file} is a module"
    assert spec.loader is not None, f"{file} is a module"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    tokenizer: _Tokenizer = module.tokenizer_for_encoding("o200k_base")
    return tokenizer
