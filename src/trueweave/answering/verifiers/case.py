"""A claim and its basis, taken apart for the rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trueweave.answering.verifiers import lexicon, quantities
from trueweave.answering.verifiers.alignment import Alignment, align
from trueweave.answering.verifiers.clauses import Clause, Word, clauses, words
from trueweave.answering.verifiers.quantities import Quantity
from trueweave.text import sentences

_RELATIVE_TIME = lexicon.word_set("later earlier after before next previous following")
LEAST_SHARED = 0.6  # share of the words of a claim; below it, who did what cannot be compared by words
LONGEST_PASSAGE = 20_000  # characters of passages that are split into sentences


@dataclass(frozen=True)
class Problem:
    """Why a claim is not confirmed."""

    reason: str


@dataclass(frozen=True)
class Statements:
    """One or more sentences as the rules see them, and the sentence before."""

    text: str
    before: str = ""

    @cached_property
    def words(self) -> list[Word]:
        return words(self.text)

    @cached_property
    def clauses(self) -> list[Clause]:
        return clauses(self.text, self.before)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities.quantities(self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words if word.is_content)

    @cached_property
    def lemmas(self) -> frozenset[str]:
        return frozenset(word.lemma for word in self.words)

    @cached_property
    def lower(self) -> frozenset[str]:
        return frozenset(word.text.casefold() for word in self.words)


@dataclass(frozen=True)
class Case:
    """A claim, the sentences that it is based on, the whole passage, and the question."""

    claim: Statements
    basis: tuple[Statements, ...]
    passage: Statements
    question: Statements

    @cached_property
    def shown(self) -> list[Clause]:
        return [clause for sentence in self.basis for clause in sentence.clauses]

    @cached_property
    def passage_sentences(self) -> list[Statements]:
        text = self.passage.text[:LONGEST_PASSAGE]
        spans = sentences.split(text)
        before = ("", *(text[slice(*span)] for span in spans))
        return [Statements(text[slice(*span)], last) for span, last in zip(spans, before, strict=False)]

    @cached_property
    def passage_clauses(self) -> list[Clause]:
        """The clauses of all sentences of the passage."""
        return [clause for sentence in self.passage_sentences for clause in sentence.clauses]

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of words that are capitalised everywhere in claim and passage."""
        every = (*self.claim.words, *self.passage.words)
        common = {word.text for word in every if word.text[0].islower()}
        return frozenset(word.stem for word in every if word.is_name and word.text.casefold() not in common)

    @cached_property
    def basis_content(self) -> frozenset[str]:
        return frozenset[str]().union(*(sentence.content for sentence in self.basis))

    @cached_property
    def basis_lemmas(self) -> frozenset[str]:
        return frozenset[str]().union(*(sentence.lemmas for sentence in self.basis))

    @cached_property
    def basis_lower(self) -> frozenset[str]:
        return frozenset[str]().union(*(sentence.lower for sentence in self.basis))

    @cached_property
    def basis_quantities(self) -> list[Quantity]:
        return [one for sentence in self.basis for one in sentence.quantities]

    @cached_property
    def given(self) -> list[Quantity]:
        """The numbers that others may be computed from: for "three years later", also the years in the passage."""
        if not self.basis_lower & _RELATIVE_TIME:
            return self.basis_quantities
        return [*self.basis_quantities, *(one for one in self.passage.quantities if one.kind == "year")]

    @cached_property
    def computed(self) -> tuple[quantities.Computed, ...]:
        """Numbers of the claim that are not in its basis, but can be computed from numbers there."""
        known = {one.value for one in (*self.basis_quantities, *self.question.quantities)}
        new = (one for one in self.claim.quantities if one.value not in known)
        found = (quantities.computed(one, self.given, self.claim.content | self.basis_content) for one in new)
        return tuple(one for one in found if one)

    @cached_property
    def alignment(self) -> Alignment:
        """The alignment of the claim with the sentence that has most of its words in its order."""
        found = (align(self.claim.words, sentence.words) for sentence in self.basis)
        return min(found, key=lambda one: len(one.missing), default=Alignment((), (), ()))

    @cached_property
    def is_paraphrase(self) -> bool:
        """Whether many words of the claim are not in its basis, either in some form or as a synonym or an opposite."""
        known = self.basis_content | lexicon.related(self.basis_lemmas, opposites=True)
        return len(self.claim.content & known) < LEAST_SHARED * len(self.claim.content)

    def matching(self, clause: Clause) -> Clause:
        """The clause of the passage that shares most with a clause of the claim."""
        return max(self.shown, key=lambda one: likeness(clause, one), default=Clause(()))


def likeness(one: Clause, other: Clause) -> float:
    """How much two clauses share: numbers count double, names half, and synonyms and opposites like words."""
    shared = one.content & other.content
    names = sum(is_name(stem, one) for stem in shared)
    numbers = sum(stem[0].isdigit() for stem in shared)
    related = len(opposites(one, other)) + len(_synonyms(one, other))
    return len(shared) - names / 2 + numbers + related - len(other.content) / 100


def _synonyms(one: Clause, other: Clause) -> list[str]:
    """Words of one clause for which the other has a synonym instead."""
    mine, others = _bases(one), _bases(other)
    return [word for word in mine - others if lexicon.SYNONYMS.get(word, frozenset()) & others - mine]


def _bases(clause: Clause) -> frozenset[str]:
    return frozenset(lexicon.base(word.lemma) for word in (*clause.words, *clause.borrowed))


def opposites(one: Clause, other: Clause) -> list[tuple[str, str]]:
    """Words of one clause whose opposite is in the other, if neither clause has both."""
    mine = {lexicon.base(lemma) for lemma in one.lemmas}
    others = {lexicon.base(word.lemma) for word in (*other.words, *other.borrowed)}
    found = []
    for word in sorted(mine):
        against = lexicon.OPPOSITES.get(word, frozenset()) & others
        if against and word not in others and not against & mine:
            found.append((word, min(against)))
    return found


def is_name(stem: str, clause: Clause) -> bool:
    """Whether a stem is that of a name in a clause."""
    return any(word.stem == stem and word.is_name and word.place > 0 for word in clause.words)
