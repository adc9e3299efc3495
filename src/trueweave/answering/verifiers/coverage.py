"""What a claim has that its passage lacks: names, most of its words, or numbers."""

from __future__ import annotations

import re

from trueweave.answering.numbers import numbers, values
from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Statements
from trueweave.answering.verifiers.clauses import words
from trueweave.answering.verifiers.roles import is_verb
from trueweave.core.answers import Claim
from trueweave.text.words import content, names, stems

LEAST_SHARED = 0.15  # of the words and numbers of a claim, in what it quotes and the sentence before
MOST_SHARED = 0.5  # of those of a claim without a quote

_BEGINNING = 200  # characters that are enough to contain the first words of a claim
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_LOOKALIKE = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")


def uncovered(claim: Claim) -> str:
    """What the claim says that the passage does not have; empty if there is nothing."""
    if mixed := _mixed(claim.text):
        return f"“{mixed}” mixes letters of two alphabets"
    if unknown := _names(claim.text) - stems("\n".join((*claim.passages, claim.question))):
        return f"the passage has no name “{_spelt(min(unknown), claim.text)}”"
    near = " ".join((claim.shown, *(one.before for one in claim.basis), *claim.titles))
    said, given = content(claim.text), numbers(claim.text)
    shared = len(said & content(near)) or _alike(Statements(claim.text), Statements(near))
    known = shared + sum(number.among(values(near)) for number in given)
    least = LEAST_SHARED if claim.quoted else MOST_SHARED
    if said - content(claim.question) and known < least * (len(said) + len(given)):
        return "the cited sentence has too few of its words"
    return ""


def _alike(one: Statements, other: Statements) -> int:
    """How many words of a sentence another has, in some form or as a synonym."""
    known = other.content | lexicon.related(other.lemmas)
    return len(one.content & known)


def unknown_number(claim: Claim) -> str:
    """The first number of a claim that is neither in its basis nor in the question; empty if there is none."""
    known = values(claim.shown) | values(claim.question)
    return next((claim.text[one.start :].split()[0] for one in numbers(claim.text) if not one.among(known)), "")


def _names(text: str) -> frozenset[str]:
    """The stems of names in a text. A capitalised first word is a name only if another name or a verb follows."""
    found = words(text[:_BEGINNING])
    if found and lexicon.base(found[0].lemma.casefold()) in lexicon.OPPOSITES:
        return names(text) - stems(found[0].text)
    if len(found) < 2 or found[1].is_name or (is_verb(found, 1) and not found[0].is_closed):
        return names(text)
    return names(text) - stems(found[0].text)


def _spelt(stem: str, text: str) -> str:
    """The word in a text with this stem."""
    return next((word for word in _LETTERS.findall(text) if stem in stems(word)), stem)


def _mixed(text: str) -> str:
    """A word that mixes letters of two alphabets that look alike, if there is one."""
    for word in _LETTERS.findall(text):
        if _LATIN.search(word) and _LOOKALIKE.search(word):
            return str(word)
    return ""
