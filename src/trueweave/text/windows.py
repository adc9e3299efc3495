"""Keyed hashes of runs of words, by which a text is found again wherever it is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from trueweave.text.scripts import UNSPACED

WORDS = 8  # in a window
FEWEST = 4  # words of a text that is looked for as a whole

Hashes = NDArray[np.uint64]

_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_])+")
_CACHED = 2**17


class WindowHashes:
    """Hashes under one secret key. Case, punctuation and spaces between words make no difference; a script without
    spaces is read by characters."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._factor = np.uint64(self._number(b"factor") | 1)
        self._word = lru_cache(_CACHED)(lambda word: self._number(b"word " + word.encode("utf-8", "surrogatepass")))

    def value(self, text: str) -> int:
        """The hash of a whole text, to the letter."""
        return self._number(b"value " + text.encode("utf-8", "surrogatepass"))

    def of_text(self, text: str) -> tuple[int, Hashes]:
        """The size of the windows by which a text is looked for, and their hashes; size 0 if it is too short."""
        words = self._words(text)
        size = min(WORDS, words.size)
        return (0, words[:0]) if size < FEWEST else (size, self._windows(words, size))

    def of_sizes(self, texts: Iterable[str], sizes: Sequence[int]) -> Hashes:
        """The hashes of all windows of these sizes in some texts."""
        found = [
            self._windows(words, size) for words in map(self._words, texts) for size in sizes if words.size >= size
        ]
        return np.concatenate(found) if found else np.zeros(0, np.uint64)

    def _words(self, text: str) -> Hashes:
        return np.fromiter(map(self._word, _WORD.findall(text.casefold())), np.uint64)

    def _windows(self, words: Hashes, size: int) -> Hashes:
        """A polynomial in a secret odd number, so that all windows of a text take one pass for each of their words."""
        found = np.full(words.size - size + 1, size, np.uint64)
        for n in range(size):
            found = found * self._factor + words[n : n + found.size]
        return found

    def _number(self, data: bytes) -> int:
        return int.from_bytes(blake2b(data, key=self._secret, digest_size=8).digest(), "little")
