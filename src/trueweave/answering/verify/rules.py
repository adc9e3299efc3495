"""What rules can tell of a claim and the sentences of a passage that it rests on. English; no model.

Each rule looks for one way in which a claim can go against its passage, or say more than it: polarity and opposites,
numbers with their units and groups, who did what to whom, quantifiers, bounds, modality, and causes. A rule that finds
nothing proves nothing: what rules vouch for is that none of these differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from trueweave.answering.verify import figures
from trueweave.answering.verify.actors import actors
from trueweave.answering.verify.case import Case, Problem, Text
from trueweave.answering.verify.certainty import causes, modality, quantifiers
from trueweave.answering.verify.polarity import polarity
from trueweave.answering.words import language

LONGEST_CLAIM = 2_000  # characters; rules compare each part of a claim with each of its basis
LONGEST_BASIS = 10_000

_RULES: tuple[Callable[[Case], Iterator[Problem]], ...] = (
    polarity,
    figures.units,
    figures.unknown,
    figures.order,
    figures.groups,
    actors,
    quantifiers,
    modality,
    causes,
)
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_LOOKALIKE = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")


def problem(claim: str, basis: Sequence[tuple[str, str]], passages: Sequence[str], asked: str) -> Problem | None:
    """The first thing that goes against a claim; None if no rule finds anything, or where it is not in English.

    `basis` are the sentences that it rests on, each with the one before it; `passages` are those that it cites, whole.
    """
    shown = " ".join(sentence for sentence, _ in basis)
    if len(claim) > LONGEST_CLAIM or len(shown) > LONGEST_BASIS:
        return Problem("it is too long to check", contradicted=False)
    if mixed := _mixed(claim):
        return Problem(f"“{mixed}” mixes letters of two alphabets", contradicted=False)
    if not _is_english(claim, shown):
        return None
    sentences = tuple(Text(sentence, before) for sentence, before in basis)
    case = Case(Text(claim), sentences, Text("\n".join(passages)), Text(asked))
    return next((found for rule in _RULES for found in rule(case)), None)


def _is_english(claim: str, shown: str) -> bool:
    return "en" in (language(shown), language(claim)) or (shown.isascii() and claim.isascii())


def _mixed(text: str) -> str:
    """A word with letters of two alphabets that look alike, if there is one."""
    for word in _LETTERS.findall(text):
        if _LATIN.search(word) and _LOOKALIKE.search(word):
            return str(word)
    return ""
