"""Aligning the words of a claim with those of a sentence of its passage, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.clauses import Word
from trueweave.answering.verifiers.quantities import Quantity, quantities

NEGATORS = lexicon.NEGATORS - {"without", "unless"} | {"n't", "n’t"}
_AROUND = 1
_SHORTEST = 3  # words that must match before one that differs means anything


@dataclass(frozen=True)
class Token:
    """A content word, or a whole number."""

    word: Word
    at: int  # position among the words of its sentence, including punctuation
    quantity: Quantity | None = None

    @property
    def is_negator(self) -> bool:
        return self.word.text.casefold() in NEGATORS

    def matches(self, other: Token) -> bool:
        if self.quantity or other.quantity:
            return bool(self.quantity and other.quantity and self.quantity.value == other.quantity.value)
        if self.is_negator or other.is_negator:
            return self.is_negator and other.is_negator
        same = lexicon.SYNONYMS.get(lexicon.base(self.word.lemma), frozenset())
        return self.word.stem == other.word.stem or lexicon.base(other.word.lemma) in same


@dataclass(frozen=True)
class Alignment:
    """Which words of a claim match which of a sentence, as pairs of positions, in order."""

    mine: tuple[Token, ...]
    theirs: tuple[Token, ...]
    pairs: tuple[tuple[int, int], ...]
    sentence: Sequence[Word] = ()

    @cached_property
    def missing(self) -> tuple[int, ...]:
        """The positions of the words of the claim that have no match."""
        return tuple(sorted(set(range(len(self.mine))) - {own for own, _ in self.pairs}))

    @property
    def is_literal(self) -> bool:
        """Whether the claim has the words of the sentence in its order, except for at most one."""
        return len(self.missing) <= 1 and len(self.pairs) >= _SHORTEST

    def gap(self, at: int) -> tuple[Token, ...]:
        """The words of the sentence between those that match the neighbours of this position of the claim."""
        before = [other for own, other in self.pairs if own < at]
        after = [other for own, other in self.pairs if own > at]
        start = before[-1] + 1 if before else max(0, after[0] - 2) if after else 0
        return self.theirs[start : after[0] if after else start + 2]

    def between(self, at: int) -> frozenset[str]:
        """The words of the sentence around this gap, including function words."""
        gap = self.gap(at)
        start, end = gap[0].at - _AROUND, gap[-1].at + _AROUND
        return frozenset(word.text.casefold() for word in self.sentence[max(0, start) : end + 1])

    @cached_property
    def extra(self) -> tuple[Token, ...]:
        """The words of the sentence among those that match, from the one before the first match, that the claim does
        not have."""
        paired = {other for _, other in self.pairs}
        within = range(max(0, self.pairs[0][1] - 1), self.pairs[-1][1]) if self.pairs else range(0)
        return tuple(self.theirs[at] for at in within if at not in paired)


def align(claim: Sequence[Word], sentence: Sequence[Word]) -> Alignment:
    """The longest pairing of the words of two sentences in which both keep their order."""
    mine, theirs = _tokens(claim), _tokens(sentence)
    alike = [[one.matches(other) for other in theirs] for one in mine]
    best = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i in range(len(mine) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], (1 + best[i + 1][j + 1]) if alike[i][j] else 0)
    pairs = []
    i = j = 0
    while i < len(mine) and j < len(theirs):
        if alike[i][j] and best[i][j] == 1 + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return Alignment(mine, theirs, tuple(pairs), sentence)


def _tokens(found: Sequence[Word]) -> tuple[Token, ...]:
    numbers = {place: one for one in quantities(found) for place in range(one.place, one.end)}
    made = []
    for at, word in enumerate(found):
        if at in numbers:
            made += [Token(word, at, numbers[at])] if numbers[at].place == at else []
        elif word.is_content or word.text.casefold() in NEGATORS:
            made.append(Token(word, at))
    return tuple(made)
