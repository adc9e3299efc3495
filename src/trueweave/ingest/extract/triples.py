"""Subject-verb-object relations from the dependencies of a parsed sentence.

It knows the labels of spaCy's English pipelines and those of Universal Dependencies, which most others use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECT = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
_OBJECT = frozenset({"dobj", "obj", "iobj", "dative", "attr", "oprd"})
_PREPOSITION = frozenset({"prep", "agent", "dative"})
_PREPOSITIONAL = frozenset({"obl", "obl:agent", "obl:arg", "nmod"})
_OF_A_NOUN = frozenset({"acl", "relcl", "acl:relcl"})
_SHARES_SUBJECT = frozenset({"conj", "xcomp", "advcl"})
_DIRECT, _BY_PREPOSITION, _BY_NOUN = 8, 7, 6
_MOST_IN_A_ROW = 4  # of "A, B, C and D": each of them with each object
_MOST_CLIMBS = 3


class Triple(NamedTuple):
    """Two tokens, how the text relates them, and how closely. The verb is None where there is none."""

    source: Token
    target: Token
    predicate: str
    verb: Token | None
    strength: int


def triples(doc: Doc, stands_for: Callable[[Token], bool]) -> Iterator[Triple]:
    """The relations between tokens that belong to entities."""
    for token in doc:
        if token.pos_ in ("VERB", "AUX"):
            yield from _of_verb(token, stands_for)
        elif token.dep_ == "appos" and stands_for(token.head) and not stands_for(token):
            yield from _of_apposition(token, stands_for)


def _of_verb(verb: Token, stands_for: Callable[[Token], bool]) -> Iterator[Triple]:
    subjects = [token for token in _subjects(verb) if stands_for(token)]
    if not subjects:
        return
    said = _said(verb)
    for words, target, strength in _objects(verb, stands_for):
        predicate = " ".join((*said, *words))
        acts = verb if verb.pos_ == "VERB" else None
        yield from (Triple(subject, target, predicate, acts, strength) for subject in subjects if subject != target)


def _of_apposition(token: Token, stands_for: Callable[[Token], bool]) -> Iterator[Triple]:
    """The editor of a journal, as in "Ada Lovelace, editor of the Journal"."""
    for words, target in _prepositional(token):
        if stands_for(target):
            yield Triple(token.head, target, " ".join((token.text, *words)), None, _BY_NOUN)


def _subjects(verb: Token) -> list[Token]:
    for _ in range(_MOST_CLIMBS):
        own = [child for child in verb.children if child.dep_ in _SUBJECT]
        if verb.dep_ in _OF_A_NOUN and all(child.pos_ == "PRON" for child in own):
            noun = verb.head  # of "Nature is a journal published by …", Nature
            return _subjects(noun.head) if noun.dep_ == "attr" else [noun]
        if own:
            return [token for one in own for token in _row(one)]
        if verb.dep_ not in _SHARES_SUBJECT:
            break
        verb = verb.head
    return []


def _objects(verb: Token, stands_for: Callable[[Token], bool]) -> Iterator[tuple[tuple[str, ...], Token, int]]:
    """The objects of a verb: (words after the verb, token, strength)."""
    for child in verb.children:
        if child.dep_ in _OBJECT and child.pos_ != "ADP":
            for token in _row(child):
                if stands_for(token):
                    yield (), token, _DIRECT
                for words, further in _prepositional(token):  # "is the editor of …", "became a member of …"
                    if stands_for(further):
                        yield (token.text, *words), further, _BY_NOUN
    yield from ((words, token, _BY_PREPOSITION) for words, token in _prepositional(verb) if stands_for(token))


def _prepositional(head: Token) -> Iterator[tuple[tuple[str, ...], Token]]:
    for child in head.children:
        if child.dep_ in _PREPOSITION and child.pos_ == "ADP":
            for noun in child.children:
                if noun.dep_ == "pobj":
                    yield from (((child.text.lower(),), token) for token in _row(noun))
        elif child.dep_ in _PREPOSITIONAL:
            case = tuple(word.text.lower() for word in child.children if word.dep_ == "case")
            yield from ((case, token) for token in _row(child))


def _row(token: Token) -> Iterator[Token]:
    """The token, and those coordinated with it by "and" or a comma."""
    yield token
    yield from islice(token.conjuncts, _MOST_IN_A_ROW - 1)


def _said(verb: Token) -> tuple[str, ...]:
    not_ = tuple("not" for child in verb.children if child.dep_ == "neg")
    particle = tuple(child.text.lower() for child in verb.children if child.dep_ in ("prt", "compound:prt"))
    return (*not_[:1], verb.text.lower(), *particle)
