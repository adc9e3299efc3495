"""Keyed hashes of runs of words, by which a text is found again wherever it is quoted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import chain

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
        self._factor = np.uint64(self._number("factor", "") | 1)
        self._word = lru_cache(_CACHED)(partial(self._number, "word"))
        self.value = lru_cache(_CACHED)(partial(self._number, "value"))  # the hash of a whole text, to the letter

    def of_text(self, text: str) -> tuple[int, Hashes]:
        """The size of the windows by which a text is looked for, and their hashes; size 0 if it is too short."""
        size = min(WORDS, len(_WORD.findall(text)))
        return (0, np.zeros(0, np.uint64)) if size < FEWEST else (size, self.of_sizes([text], [size])[0])

    def of_sizes(self, texts: Sequence[str], sizes: Sequence[int]) -> tuple[Hashes, NDArray[np.intp]]:
        """The hashes of all windows of these sizes in some texts, and the number of the text of each.

        A hash is a polynomial in a secret odd number. All texts are read as one, and windows that begin in one text and
        end in another are left out, so the number of steps depends on the sizes alone.
        """
        words = [_WORD.findall(text.casefold()) for text in texts]
        counts = list(map(len, words))
        hashes = np.fromiter(map(self._word, chain.from_iterable(words)), np.uint64, sum(counts))
        text_of = np.repeat(np.arange(len(texts)), counts)
        found, where = [np.zeros(0, np.uint64)], [np.zeros(0, np.intp)]
        for size in sizes:
            number = max(hashes.size - size + 1, 0)
            windows = np.full(number, size, np.uint64)
            for n in range(size):
                windows = windows * self._factor + hashes[n : n + number]
            is_whole = text_of[:number] == text_of[size - 1 : size - 1 + number]
            found.append(windows[is_whole])
            where.append(text_of[:number][is_whole])
        return np.concatenate(found), np.concatenate(where)

    def _number(self, kind: str, text: str) -> int:
        data = f"{kind} {text}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(data, key=self._secret, digest_size=8).digest(), "little")
