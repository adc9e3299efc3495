"""Splitting a sentence into words and clauses, and whether each clause affirms or denies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from trueweave.answering.verifiers import lexicon
from trueweave.text.lemmas import IRREGULAR, lemma
from trueweave.text.stopwords import FUNCTION_WORDS
from trueweave.text.words import STEM

_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*(?:-\d+)?|[^\W\d_]+(?:-[^\W\d_]+)*(?=n['’]t\b)|n['’]t\b|[^\W_]+(?:[-'’][^\W_]+)*|%|[;:,—–()]"
)
_STOPS = frozenset(";:,—–()")
_BREAKS = lexicon.word_set(
    "but while whereas although though because which who whom unless since without after before until when where if"
)
_RELATIVES = lexicon.word_set("who whom which")
_TEMPORAL = lexicon.word_set("after before until when if since without")
_PREPOSITIONS = lexicon.word_set("by of in on at for from with to against under over as into near than")
_OPENING = lexicon.word_set("the a an this these those it he she they there his her its their no")
_FINITE = lexicon.word_set(
    """
    is are was were be been has have had do does did will would can could may might must shall should went
    came took gave made became kept left
    """
)
_GAP = 6  # words after an "and" that may form the counterpart of what comes before it
_PERSONS = lexicon.word_set("he she they")
_JOINING = lexicon.word_set("and or but while whereas although though because when where after before until as so then")
_SUBSTITUTES = lexicon.word_set("did do does was were is are be need must may can will should has have had")
_SUBJECTS = lexicon.word_set("it he she they we i you nobody none nothing")
# Quantifiers and words of comparison and time are part of what a clause says.
_CARRYING = lexicon.word_set(
    """
    after against all any before both either every few last later like many more most much near next now only several
    some today together unless unlike until without
    """
)
_FUNCTION = FUNCTION_WORDS["en"] - _CARRYING | lexicon.word_set(
    "a an i none nobody nothing nor own s t eleven twelve percent minus anyone anybody someone somebody everyone"
)


@dataclass(frozen=True)
class Word:
    """A word of a sentence: as written, its lemma, and its position among the words."""

    text: str
    lemma: str
    place: int

    @cached_property
    def stem(self) -> str:
        """The first letters of the word, which most of its forms and related words share."""
        return (_without_prefix(self.lemma) or self.lemma)[:STEM]

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    @property
    def is_content(self) -> bool:
        if self.is_number:
            return False
        if len(self.text) <= 2:  # a letter or code that names something: vaccine B, alloy K7
            is_code = self.text[-1].isdigit() or self.place > 0
            return self.text.isupper() and is_code and self.text != "I"
        return self.text.casefold() not in _FUNCTION

    @property
    def is_closed(self) -> bool:
        """Whether this is a pronoun, a number or another word that is never a name."""
        lower = self.text.casefold()
        return lower in _FUNCTION or lower in lexicon.NEGATORS | lexicon.UNIVERSAL | lexicon.PARTIAL | lexicon.NUMERALS

    @property
    def is_name(self) -> bool:
        return self.text[0].isupper() and self.is_content


@dataclass(frozen=True)
class Clause:
    """A part of a sentence that says one thing. What it leaves out is borrowed from the clause before."""

    words: tuple[Word, ...]
    borrowed: tuple[Word, ...] = ()

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        return tuple(word.lemma for word in self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of its content words, including borrowed ones, and its numbers."""
        return frozenset(
            word.text if word.is_number else word.stem
            for word in (*self.borrowed, *self.words)
            if word.is_content or word.is_number
        )

    @cached_property
    def has_verb(self) -> bool:
        return any(map(_is_verbal, self.words))

    @cached_property
    def is_negated(self) -> bool:
        """Whether it says that something is not so: it has an odd number of denials."""
        return denials(self.words) % 2 == 1


def denials(words: Sequence[Word], but: frozenset[str] = frozenset()) -> int:
    """How often these words deny what they say, not counting words with the lemmas in `but`."""
    lemmas = [word.lemma for word in words]
    count = 0
    skipped: set[int] = set()
    for phrase in lexicon.BOUNDING_PHRASES:
        skipped |= {at + step for at in _starts(lemmas, phrase) for step in range(len(phrase))}
    for phrase in lexicon.DENYING_PHRASES:
        for at in _starts(lemmas, phrase):
            if at not in skipped:
                count += 1
                skipped |= set(range(at, at + len(phrase)))
        apart = [at for at in range(len(lemmas) - 2) if (lemmas[at], lemmas[at + 2]) == phrase and at not in skipped]
        count += len(apart)  # as in "turned it down"
        skipped |= {place for at in apart for place in (at, at + 2)}
    for at, word in enumerate(words):
        if at in skipped or word.lemma in but:
            continue
        text = word.text.casefold()
        if text == "nor" and "neither" in lemmas:
            continue
        if (
            text in lexicon.NEGATORS
            or text in ("n't", "n’t")
            or word.lemma in lexicon.DENIALS
            or _without_prefix(word.lemma)
        ):
            count += 1
    return count


def faint_denials(words: Sequence[Word], but: frozenset[str] = frozenset()) -> int:
    """How many of these words deny something that may not be what the sentence is about: "the freezer failed", unlike
    "failed to open"."""
    ahead = (*(word.lemma for word in words[1:]), "")
    return sum(
        word.lemma in lexicon.DENIALS and word.lemma not in but and after != "to"
        for word, after in zip(words, ahead, strict=True)
    )


def _starts(lemmas: Sequence[str], phrase: Sequence[str]) -> list[int]:
    size = len(phrase)
    return [at for at in range(len(lemmas) - size + 1) if tuple(lemmas[at : at + size]) == tuple(phrase)]


_POSITIVE_AFTER_PREFIX = lexicon.word_set(
    """
    secure vaccinate fair fairly affect paid pay touch treat damage able likely successful known safe happy
    usual expected expect limited aware common necessary lawful legal complete correct active dependent
    possible resolved settle tested test named name marked hurt harmed opened open used use finished certain
    clear
    """
)


@lru_cache(maxsize=8192)
def _without_prefix(word: str) -> str:
    """The word that a word such as "unpaid" denies; "" for other words."""
    found = (word[len(prefix) :] for prefix in lexicon.NEGATIVE_PREFIXES if word.startswith(prefix))
    return next((rest for rest in found if rest in _POSITIVE_AFTER_PREFIX), "")


def words(text: str) -> list[Word]:
    """The words of a text, including the punctuation between clauses."""
    made: list[Word] = []
    for place, found in enumerate(_TOKEN.finditer(text)):
        made.append(Word(found[0], _lemma_in_text(found[0], made[-1].text if made else ""), place))
    return made


def _lemma_in_text(word: str, before: str) -> str:
    if word.casefold() in lexicon.NUMERALS:  # "hundred" is not a past tense
        return word.casefold()
    if word == "May":  # the month, not the auxiliary
        return word
    if word == "left" and before.casefold() in _OPENING:  # a side, not a form of "leave"
        return word
    return lemma(word)


def clauses(text: str, before: str = "") -> list[Clause]:
    """The clauses of a sentence, in order. A pronoun at its start stands for the subject of the sentence before."""
    made: list[Clause] = []
    for own in _resumed(_joined([part for part in _parts(words(text)) if part])):
        made.append(Clause(tuple(own), _borrowed(own, made)))
    if made and before and made[0].words[0].text.casefold() in _SUBJECTS:
        made[0] = Clause(made[0].words, _subject(words(before)))
    return made


def _subject(found: Sequence[Word]) -> tuple[Word, ...]:
    verb = next((at for at, word in enumerate(found) if _is_verbal(word)), 0)
    return tuple(word for word in found[:verb] if word.is_content)


def _joined(parts: Sequence[list[Word]]) -> list[list[Word]]:
    """The parts, where those without a verb or denial are joined to the part before: "Joan Pell, by 312 votes"."""
    joined: list[list[Word]] = []
    resuming = False
    stripped = [own for part in parts if (own := [word for word in part if word.text not in _STOPS])]
    for own, following in zip(stripped, (*stripped[1:], []), strict=True):
        inserted = bool(joined) and _is_apposition(own, joined[-1], following)
        if inserted or resuming:
            joined[-1].extend(own)
            resuming = inserted
            continue
        if joined and _is_gapped(own, joined[-1]):
            joined.append(own)
            continue
        first = own[1 if own[0].text.casefold() in ("and", "or") and len(own) > 1 else 0].text.casefold()
        elliptic = (
            any(word.is_number for word in own) and any(word.is_content for word in own) and first not in _PREPOSITIONS
        )
        acts = denials(own) or any(map(_is_verbal, own)) or elliptic
        belongs = not acts and first not in _BREAKS and first != "as"
        if joined and (belongs or _completes_gap(own, joined)):
            joined[-1].extend(own)
        else:
            joined.append(own)
    return joined


def _is_apposition(own: Sequence[Word], before: Sequence[Word], following: Sequence[Word]) -> bool:
    """Whether a part stands between a subject and its verb: "The lowest level, 214 metres, was measured"."""
    if not following or following[0].text.casefold() not in _FINITE:
        return False
    return not (any(map(_is_verbal, (*own, *before))) or denials((*own, *before)))


def _is_gapped(own: Sequence[Word], before: Sequence[Word]) -> bool:
    """Whether a part leaves out the verb of the one before: "and the highest in 2013", after the lowest."""
    start = 1 if own[0].text.casefold() in ("and", "while", "but") else 0
    if own[start : start + 1] == [] or own[start].text.casefold() not in _OPENING or any(map(_is_verbal, own)):
        return False
    against = frozenset[str]().union(*(lexicon.OPPOSITES.get(lexicon.base(word.lemma), frozenset()) for word in own))
    return any(map(_is_verbal, before)) and any(lexicon.base(word.lemma) in against for word in before)


def _completes_gap(own: Sequence[Word], joined: Sequence[list[Word]]) -> bool:
    """Whether a part belongs to one without a verb before it: "241 metres", of "and the highest, 241 metres"."""
    if len(joined) < 2 or any(map(_is_verbal, own)) or denials(own):
        return False
    return _is_gapped(joined[-1], joined[-2])


def _resumed(parts: Sequence[list[Word]]) -> list[list[Word]]:
    """The parts, where one that continues after a relative clause is joined to the part before that clause."""
    made: list[list[Word]] = []
    waiting: list[Word] | None = None  # a part that had no verb when a relative clause began
    for part in parts:
        if waiting is not None and (_is_verbal(part[0]) or part[0].text.casefold() in lexicon.NEGATORS):
            waiting.extend(part)
            waiting = None
        elif made and _is_inserted(part, made[-1]):
            waiting = made[-1]
            made.append([*made[-1], *part])
        elif made and part[0].text.casefold() in _RELATIVES:
            waiting = None if any(map(_is_verbal, made[-1])) else made[-1]
            made.append([*_last_name(made[-1]), *part[1:]])
        else:
            waiting = None
            made.append(list(part))
    return made


def _is_inserted(part: Sequence[Word], before: Sequence[Word]) -> bool:
    """Whether a part begins with a participle and follows a subject without a verb: "The letters, kept here,"."""
    return _looks_like_verb(part[0]) and not any(map(_is_verbal, before)) and before[0].text.casefold() in _OPENING


def _borrowed(own: Sequence[Word], before: Sequence[Clause]) -> tuple[Word, ...]:
    """What a clause borrows from the one before: the subject if it has none ("and went on", "who founded it"), or
    everything if it has no verb ("but not the churches", "Nordfels did not")."""
    if not before:
        return ()
    earlier = before[-1].words
    first = own[0].text.casefold()
    if first in _TEMPORAL and own[1:2] and own[1].text.casefold() not in _PERSONS:
        return ()
    acts = [word for word in own if _is_verbal(word) and word.text.casefold() not in _SUBSTITUTES]
    if not acts and sum(word.is_content for word in own) <= 4:
        against = (lexicon.OPPOSITES.get(lexicon.base(word.lemma), frozenset()) for word in own)
        instead = frozenset[str]().union(*against)
        counts = any(word.is_number for word in own)
        kept = (word for word in earlier if lexicon.base(word.lemma) not in instead and not (counts and word.is_number))
        if _has_predicate(own, earlier):
            kept = (word for word in _subject(earlier) if lexicon.base(word.lemma) not in instead)
        return tuple(
            word for word in kept if word.is_number or (word.is_content and not (word.is_name and word.place > 0))
        )
    start = 1 if first in _JOINING else 0
    if start and own[1:2] and own[1].text.casefold() in _PERSONS:
        subjects = (_subject(clause.words) or clause.borrowed for clause in reversed(before))
        return next(filter(None, subjects), ())
    if start < len(own) and (_is_verbal(own[start]) or own[start].text.casefold() in lexicon.NEGATORS):
        verb = next((at for at, word in enumerate(earlier) if _is_verbal(word)), len(earlier))
        whole = own[start].text.casefold() in lexicon.NEGATORS or own[start].text in ("rising", "falling")
        return tuple(word for word in (earlier if whole else earlier[:verb]) if word.is_content or word.is_number)
    return ()


def _has_predicate(own: Sequence[Word], earlier: Sequence[Word]) -> bool:
    """Whether a part without a verb has its own predicate in place of the previous one: "the other slope bare"."""
    verb = next((at for at, word in enumerate(earlier) if _is_verbal(word)), None)
    if verb is None or earlier[verb].text.casefold() not in ("is", "are", "was", "were"):
        return False
    last = own[-1]
    known = {word.stem for word in earlier[:verb]}
    return last.is_content and last.stem not in known and own[-2:-1] != [] and own[-2].stem in known


def _last_name(found: Sequence[Word]) -> list[Word]:
    """The name, or else the noun, at the end of these words."""
    taken: list[Word] = []
    for word in reversed([word for word in found if word.text not in _STOPS]):
        if word.is_name or (not taken and word.is_content):
            taken.append(word)
        elif taken:
            break
    return taken[::-1]


def _is_verbal(word: Word) -> bool:
    return (
        word.text.casefold() in _FINITE or _looks_like_verb(word) or (word.lemma in lexicon.VERBS and not word.is_name)
    )


def _looks_like_verb(word: Word) -> bool:
    return word.text.endswith("ed") or (
        word.lemma != word.text and word.text.casefold() in IRREGULAR and not word.is_name
    )


def _parts(found: Sequence[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    for at, word in enumerate(found):
        lower = word.text.casefold()
        breaks = lower in _BREAKS and not (lower == "without" and denials(part))
        if part and (word.text in _STOPS or breaks or _begins_after(found, at)):
            yield part
            part = []
        part.append(word)
    yield part


def _begins_after(found: Sequence[Word], at: int) -> bool:
    """Whether "and", "or" or "that" at this position begins a clause."""
    lower = found[at].text.casefold()
    rest = found[at + 1 :]
    if lower == "that":
        return bool(rest) and (rest[0].text.casefold() in _OPENING or rest[0].is_name)
    since = [word.text.casefold() for word in found[max(0, at - 4) : at]]
    return lower in ("and", "or") and "between" not in since and (_begins(rest) or _is_other(rest, found[:at]))


def _is_other(rest: Sequence[Word], before: Sequence[Word]) -> bool:
    """Whether "and" introduces the counterpart of something: the lowest …, and the highest."""
    ahead = []
    for word in rest[:_GAP]:
        if word.text in _STOPS or word.text.casefold() in ("and", "or"):
            break
        ahead.append(word)
    against = frozenset[str]().union(
        *(lexicon.OPPOSITES.get(lexicon.base(word.lemma), frozenset()) for word in ahead if word.is_content)
    )
    return len(ahead) > 1 and any(lexicon.base(word.lemma) in against for word in before)


def _begins(rest: Sequence[Word]) -> bool:
    """Whether the words after an "and" are a clause of their own."""
    ahead = []
    for word in rest:
        if word.text in _STOPS or word.text.casefold() in ("and", "or"):
            break
        ahead.append(word)
    if not ahead:
        return False
    first = ahead[0].text.casefold()
    acts = first in _SUBJECTS or _is_verbal(ahead[0]) or any(map(_is_verbal, ahead[1:5]))
    return acts or bool(denials(ahead))
