"""Folding: removing case, accents and typographic variants, so that two spellings of the same words are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen and zero-width characters
_ALIKE: Mapping[int, str | None] = {
    **dict.fromkeys(map(ord, "’‘ʼ"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—−"), "-"),
    **dict.fromkeys(map(ord, _UNSEEN)),
}
_WHITE = re.compile(r"\s")


def bare(text: str) -> str:
    """The text without case and accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return "".join(one for one in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(one))


class Folding:
    """Folds texts character by character, so that each character of the result has an origin in the text.

    White space becomes single spaces. Without `alike`, only case is folded; with it, accents are removed too, and
    characters are replaced or removed according to it.
    """

    def __init__(self, alike: Mapping[int, str | None] | None = None) -> None:
        self._alike = alike
        self._folded: dict[str, str] = {}
        in_ascii = {code: instead for code, instead in (alike or {}).items() if code < 128}
        self._replaced = {code: instead for code, instead in in_ascii.items() if instead}
        removed = [re.escape(chr(code)) for code, instead in in_ascii.items() if not instead]
        self._shifting = re.compile("|".join([r"\s\s", *removed]))

    def __call__(self, text: str) -> tuple[str, Sequence[int]]:
        """The folded text, and the original position of each of its characters."""
        if text.isascii() and not self._shifting.search(text):  # true of most texts, and twenty times as fast
            return _WHITE.sub(" ", text.lower().translate(self._replaced)), range(len(text))
        out: list[str] = []
        origins: list[int] = []
        for place, character in enumerate(text):
            for folded in self._character(character):
                if folded == " " and out and out[-1] == " ":
                    continue
                out.append(folded)
                origins.append(place)
        return "".join(out), origins

    def _character(self, character: str) -> str:
        known = self._folded.get(character)
        if known is None:
            known = self._folded[character] = self._of(character)
        return known

    def _of(self, character: str) -> str:
        if character.isspace():
            return " "
        folded = character.casefold()
        return folded if self._alike is None else bare(folded.translate(self._alike))


CASE = Folding()
# For names. The index stores where names occur, so changing these rules would change the index.
PLAIN = Folding(_ALIKE)
# For quotes of running text: all quotation marks are equal too, and emphasis markers are removed.
PROSE = Folding(
    {
        **_ALIKE,
        **dict.fromkeys(map(ord, '"‚`“”„«»「」『』'), "'"),
        ord("―"): "-",
        **dict.fromkeys(map(ord, "*_")),
    }
)


def end_after(text: str, last: int) -> int:
    """The end position after this character, including combining accents that follow it."""
    end = last + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def is_apart(left: str, right: str) -> bool:
    """Whether a word may end between two characters, either of which may be absent."""
    return not (_in_word(left) and _in_word(right))


def _in_word(character: str) -> bool:
    return character.isalnum() and not is_unspaced(character)


def is_unspaced(character: str) -> bool:
    """Whether a letter has no case: scripts without case write words without spaces, or join particles to them."""
    return character.isalpha() and unicodedata.category(character) == "Lo"
