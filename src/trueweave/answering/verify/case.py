"""A claim beside what it rests on, taken apart for the rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trueweave.answering.verify import lexicon, quantities
from trueweave.answering.verify.clauses import Clause, Word, clauses, words
from trueweave.answering.verify.quantities import Quantity


@dataclass(frozen=True)
class Problem:
    """Why a claim is not vouched for. `contradicted`: the passage says otherwise; else it does not say so."""

    reason: str
    contradicted: bool = True


@dataclass(frozen=True)
class Statements:
    """A sentence, or a few of them, as the rules see them; and the sentence before."""

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
    """A claim, the sentences that it rests on, the whole passage, and the question."""

    claim: Statements
    basis: tuple[Statements, ...]
    passage: Statements
    question: Statements

    @cached_property
    def shown(self) -> list[Clause]:
        return [clause for sentence in self.basis for clause in sentence.clauses]

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
    def computed(self) -> tuple[quantities.Computed, ...]:
        """Numbers of the claim that are not in its basis, but follow from numbers there."""
        known = {one.value for one in (*self.basis_quantities, *self.question.quantities)}
        new = (one for one in self.claim.quantities if one.value not in known)
        found = (quantities.computed(one, self.basis_quantities, self.claim.content) for one in new)
        return tuple(one for one in found if one)

    def matching(self, clause: Clause) -> Clause:
        """The clause of the passage that shares most with a clause of the claim."""
        return max(self.shown, key=lambda one: likeness(clause, one), default=Clause(()))


def likeness(one: Clause, other: Clause) -> float:
    shared = one.content & other.content
    names = sum(is_name(stem, one) for stem in shared)
    return len(shared) - names / 2 + len(opposites(one, other)) - len(other.content) / 100


def opposites(one: Clause, other: Clause) -> list[tuple[str, str]]:
    """Words of one clause whose opposite is in the other, where neither clause has both."""
    mine, others = set(one.lemmas), set(other.lemmas) | {word.lemma for word in other.borrowed}
    found = []
    for word in sorted(mine):
        against = lexicon.OPPOSITES.get(word, frozenset()) & others
        if against and word not in others and not against & mine:
            found.append((word, min(against)))
    return found


def is_name(stem: str, clause: Clause) -> bool:
    """Whether a stem is that of a name in a clause."""
    return any(word.stem == stem and word.is_name and word.place > 0 for word in clause.words)
