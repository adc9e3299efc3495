"""What a claim adds that its passage does not mention: a clause, a phrase, an owner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Case, Problem, Statements
from trueweave.answering.verifiers.clauses import Word

# Words that begin a phrase which can be added to a complete sentence.
_BEGINNING = lexicon.word_set(
    "after before because since when while where until if unless although with without by for to in on at from during "
    "under over against despite through and but or who which that as into than about between"
)
_OWNING = lexicon.word_set("his her its their my our your")
_LEAST = 2  # unknown words that make a phrase an addition


def additions(case: Case) -> Iterator[Problem]:
    """A final phrase with no word from the passage or the question: "after a quarrel over bonuses"."""
    known = case.passage.content | case.question.content | lexicon.related(case.basis_lemmas)
    phrases = _phrases(case.claim.words)
    told = False
    strange: list[Word] = []
    for phrase in phrases:
        content = [word for word in phrase if word.is_content and not _is_common(word)]
        own = [word for word in phrase if word.is_content and word.text.casefold() not in _BEGINNING]
        if any(word.is_number for word in phrase) or any(word.stem in known for word in own):
            told, strange = True, []
        else:
            strange += content
    if told and len(strange) >= _LEAST:
        words = " ".join(word.text for word in strange)
        yield Problem(f"the passage says nothing of “{words}”")


def _is_common(word: Word) -> bool:
    """Whether this is a word that paraphrases may add freely."""
    common = lexicon.COMMON_VERBS | lexicon.UNIVERSAL | lexicon.PARTIAL | lexicon.NEGATORS | lexicon.HEDGES
    return word.lemma in common or word.lemma in lexicon.UNITS or lexicon.base(word.lemma) in lexicon.OPPOSITES


def _phrases(found: Sequence[Word]) -> list[list[Word]]:
    parts: list[list[Word]] = [[]]
    for word in found:
        if word.text in ",;:()—–" or word.text.casefold() in _BEGINNING:
            parts.append([])
        parts[-1].append(word)
    return [part for part in parts if part]


def owners(case: Case) -> Iterator[Problem]:
    """A thing that belongs to someone else in the passage: the compass of Halvorsen, or "his" with another name before
    it."""
    for owner, thing in _owned(case.claim.words):
        found = [one for sentence in case.basis for one in _owners(thing.stem, sentence)]
        if found and not any(owner.stem in one for one in found):
            yield Problem(f"the passage does not speak of “{owner.text} {thing.text}”")


def _owned(found: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Names in the possessive, each with what it owns."""
    for at, word in enumerate(found):
        if word.is_name and word.text.endswith(("'s", "’s")):
            thing = next((one for one in found[at + 1 : at + 4] if one.is_content), None)
            if thing:
                yield word, thing


def _owners(thing: str, sentence: Statements) -> Iterator[frozenset[str]]:
    """The possible owners of a thing in a sentence, for each place that says whose it is."""
    found = sentence.words
    before = Statements(sentence.before).content
    for at, word in enumerate(found):
        if word.stem != thing:
            continue
        near = found[max(0, at - 3) : at]
        if any(one.text.casefold() in _OWNING for one in near):
            last = max(place for place, one in enumerate(found) if one.text.casefold() in _OWNING)
            named = any(one.is_name for one in found[:last])
            yield frozenset(one.stem for one in found[:last] if one.is_content) | (frozenset() if named else before)
        elif owning := [one for one in near if one.text.endswith(("'s", "’s"))]:
            yield frozenset(one.stem for one in owning)
