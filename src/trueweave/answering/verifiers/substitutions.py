"""Whether a claim has replaced one thing of the passage with another: Busan where it says Rotterdam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Case, Problem
from trueweave.answering.verifiers.clauses import Word
from trueweave.answering.verifiers.roles import is_plain_verb, is_verb
from trueweave.answering.verifiers.times import MONTHS, WEEKDAYS

_PREPOSITIONS = lexicon.word_set("in at to from by of for with against on under over into near")
_WITHIN = lexicon.word_set("of the a an his her its their")
_STANDING_FOR = lexicon.word_set("those that one ones")
_LONGEST = 4  # words after a preposition that belong to it

Place = tuple[str, str]


def substitutions(case: Case) -> Iterator[Problem]:
    """Another thing of the passage after the same word and preposition, or another quality of the same thing."""
    if case.computed or any(clause.is_negated for clause in case.claim.clauses):
        return
    known = case.passage.content
    about = _about(case)
    elliptic = [clause for clause in case.shown if _STANDING_FOR.intersection(clause.lemmas)]
    for fill in (_behind, _before):
        theirs: dict[Place, frozenset[str]] = {}
        for words in about:
            for place, filler in fill(words):
                theirs[place] = theirs.get(place, frozenset()) | filler
        for place, filler in fill(case.claim.words):
            instead = theirs.get(place, frozenset())
            if any(filler & other.content and (other.content & case.claim.content) - filler for other in elliptic):
                continue
            alike = lexicon.related(word.lemma for word in case.claim.words if word.stem in filler)
            if fill is _before and filler <= case.basis_content:
                continue
            if instead and filler <= known and not instead & (filler | alike) and not instead & case.claim.content:
                yield Problem(f"the passage says this of something other than {_written(filler, case.claim.words)}")


def _about(case: Case) -> list[Sequence[Word]]:
    """The sentences of the basis; or, if the claim begins with a name, the clauses that contain this name."""
    first = next((word.stem for word in case.claim.words if word.is_content), "")
    named = [clause.words for clause in case.shown if first in case.names and first in clause.content]
    return list(named or (sentence.words for sentence in case.basis))


def _behind(found: Sequence[Word]) -> Iterator[tuple[Place, frozenset[str]]]:
    """The words after each preposition, keyed by the word before it and the preposition."""
    head = ""
    for at, word in enumerate(found):
        lower = word.text.casefold()
        if lower in _PREPOSITIONS and head:
            filler = []
            for place, one in enumerate(found[at + 1 : at + 1 + _LONGEST], at + 1):
                if not (one.is_content or one.text.casefold() in _WITHIN) or is_plain_verb(found, place):
                    break
                filler.append(one)
            stems = frozenset(one.stem for one in filler if one.is_content)
            if stems and not any(one.text.casefold() in MONTHS | WEEKDAYS for one in filler):
                yield (head, lower), stems
        elif word.is_content or lower in _STANDING_FOR:
            head = word.stem


def _before(found: Sequence[Word]) -> Iterator[tuple[Place, frozenset[str]]]:
    """The word right before each noun, keyed by the noun: lake, of lake water."""
    for at, (one, other) in enumerate(pairwise(found)):
        if one.is_content and other.is_content and not is_verb(found, at) and not is_verb(found, at + 1):
            yield (other.stem, "before"), frozenset((one.stem,))


def _written(stems: frozenset[str], found: Sequence[Word]) -> str:
    return " ".join(word.text for word in found if word.stem in stems)
