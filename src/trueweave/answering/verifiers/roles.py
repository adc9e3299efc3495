"""Who did what to whom: names and things before and after the verb that a claim shares with a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.clauses import Clause, Word
from trueweave.text.lemmas import IRREGULAR

_BE = lexicon.word_set("is are was were be been being")
_AUXILIARY = _BE | lexicon.word_set(
    "has have had do does did will would can could may might must shall should to not never"
)
_NO_AGENTS = lexicon.NUMERALS | lexicon.word_set(
    "half third quarter fifth tenth day night then about almost nearly more less up"
)
_TIMES = lexicon.PERIODS | lexicon.word_set("morning evening afternoon spring summer autumn winter end today now")
_SLOTS = lexicon.word_set("of by from to against behind for than over")
_OUTSIDE = lexicon.word_set("and or with in on at between near as during after before until since")
_PLURALS = lexicon.word_set("people children women men teeth feet")
_AFTER_VERB = lexicon.word_set("the a an to in on by from its his her their it for that at over no none")


@dataclass(frozen=True)
class Roles:
    """The words for the one who acts, and for the others. `subject` has those before the verb."""

    actors: frozenset[str]
    others: frozenset[str]
    subject: frozenset[str]
    is_passive: bool


def is_verb(found: Sequence[Word], at: int) -> bool:
    """Whether the word at this position looks like a verb, by its ending or the words around it."""
    word = found[at]
    lower = word.text.casefold()
    if not word.is_content or (word.text[0].isupper() and at > 0):
        return False
    before = found[at - 1].text.casefold() if at else ""
    if lower in _PLURALS:
        return False
    if lower.endswith("ed") or before in _AUXILIARY or (word.lemma != lower and not lower.endswith("s")):
        return True
    if at == 0 or not found[at - 1].is_content:
        return False
    after = found[at + 1].text.casefold() if at + 1 < len(found) else ""
    agrees = lower.endswith("s") and (found[at - 1].is_name or not before.endswith("s"))
    agrees = agrees or (before.endswith("s") and not lower.endswith("s"))
    return after in _AFTER_VERB or (word.lemma in lexicon.VERBS and agrees and after != "of")


def is_plain_verb(found: Sequence[Word], at: int) -> bool:
    """Whether the word at this position is a verb by its form or an auxiliary, not only by the words around it."""
    lower = found[at].text.casefold()
    inflected = lower.endswith("ed") or (lower in IRREGULAR and lower != found[at].lemma)
    return is_verb(found, at) and (inflected or (at > 0 and found[at - 1].text.casefold() in _AUXILIARY))


def roles(found: Sequence[Word], verb: int, borrowed: Sequence[Word] = ()) -> Roles:
    """The words before and after a verb, exchanged if the verb is passive."""
    before, after = [*borrowed, *found[:verb]], found[verb + 1 :]
    left = frozenset(word.stem for word in before if word.is_content and word.lemma not in _TIMES)
    right = frozenset(word.stem for word in after if word.is_content)
    if _is_passive(found, verb):
        agent = _agent(after)
        return Roles(agent, left | (right - agent), left, is_passive=True)
    return Roles(left, right, left, is_passive=False)


def slots(clause: Clause, names: frozenset[str]) -> dict[str, str]:
    """For each name in a clause, the preposition before it; "" for a subject, "object" for an object."""
    found: dict[str, str] = {}
    slot = ""
    acted = False
    for at, word in enumerate(clause.words):
        lower = word.text.casefold()
        if lower in _SLOTS:
            slot = lower
        elif is_plain_verb(clause.words, at):
            slot, acted = "object", True
        elif lower in _OUTSIDE:
            slot = "?"
        elif word.stem in names and word.is_name:
            found.setdefault(word.stem, slot)
    return found if acted or any(slot in ("of", "by") for slot in found.values()) else {}


def _is_passive(found: Sequence[Word], verb: int) -> bool:
    if found[verb].text.endswith("ing"):
        return False
    if _agent(found[verb + 1 : verb + 4]):
        return True
    near = [word.text.casefold() for word in found[max(0, verb - 3) : verb]]
    return near[-1:] != ["to"] and any(word in _BE for word in near)


def _agent(after: Sequence[Word]) -> frozenset[str]:
    """The agent after "by"; not an amount or a time."""
    for at, word in enumerate(after[:-1]):
        following = next((one for one in after[at + 1 :] if one.lemma not in ("a", "an", "the")), after[at + 1])
        if word.text.casefold() == "by" and not (following.is_number or following.lemma in _NO_AGENTS):
            return frozenset(one.stem for one in after[at + 1 : at + 6] if one.is_content)
    return frozenset()
