"""Who did what to whom: names and things before and after the verb that a claim shares with a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.answering.verify import lexicon
from trueweave.answering.verify.clauses import Word

_BE = lexicon.word_set("is are was were be been being")
_AUXILIARY = _BE | lexicon.word_set(
    "has have had do does did will would can could may might must shall should to not never"
)
_PLURALS = lexicon.word_set("people children women men teeth feet")
_AFTER_VERB = lexicon.word_set("the a an to in on by from its his her their it for that at over no none")


@dataclass(frozen=True)
class Roles:
    """What stands on the side of the one who acts, and what on the other. `subject` is what stands before the verb."""

    actors: frozenset[str]
    others: frozenset[str]
    subject: frozenset[str]
    is_passive: bool


def is_verb(found: Sequence[Word], at: int) -> bool:
    """Whether the word at this place looks like a verb: by its ending, or by the word before it."""
    word = found[at]
    lower = word.text.casefold()
    if not word.is_content or (word.text[0].isupper() and at > 0):
        return False
    before = found[at - 1].text.casefold() if at else ""
    if lower in _PLURALS:
        return False
    if lower.endswith("ed") or before in _AUXILIARY or (word.lemma != lower and not lower.endswith("s")):
        return True
    after = found[at + 1].text.casefold() if at + 1 < len(found) else ""
    return at > 0 and found[at - 1].is_content and after in _AFTER_VERB


def roles(found: Sequence[Word], verb: int, borrowed: Sequence[Word] = ()) -> Roles:
    """What stands before and after a verb, exchanged where the verb is in the passive."""
    before, after = [*borrowed, *found[:verb]], found[verb + 1 :]
    left = frozenset(word.stem for word in before if word.is_content)
    right = frozenset(word.stem for word in after if word.is_content)
    if _is_passive(found, verb):
        agent = _agent(after)
        return Roles(agent, left | (right - agent), left, is_passive=True)
    return Roles(left, right, left, is_passive=False)


def _is_passive(found: Sequence[Word], verb: int) -> bool:
    if verb + 1 < len(found) and found[verb + 1].text.casefold() == "by":
        return True
    near = [word.text.casefold() for word in found[max(0, verb - 3) : verb]]
    return bool(near) and any(word in _BE for word in near)


def _agent(after: Sequence[Word]) -> frozenset[str]:
    for at, word in enumerate(after):
        if word.text.casefold() == "by":
            return frozenset(one.stem for one in after[at + 1 : at + 6] if one.is_content)
    return frozenset()
