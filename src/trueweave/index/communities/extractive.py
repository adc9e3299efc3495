"""Reports without a language model: the best connected members, and the sentences that mention most of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.core.graph import CommunityReport, Finding
from trueweave.graph.report_facts import EntityFact, Facts, RelationFact
from trueweave.text import phrases, sentences
from trueweave.text.names import tidy

MOST_FACTS = 40  # of a kind

_FINDINGS = 5
_IN_SUMMARY = 2  # sentences
_NAMED = 3  # entities in a title
_SHORTEST, _LONGEST = 25, 500  # characters of an informative sentence
_SAID_BEFORE = 0.25  # weight of a member that an earlier sentence mentions


class _Sentence(NamedTuple):
    """A sentence, its source, and the members that it mentions, as indexes into the facts."""

    text: str
    chunk: UUID
    members: frozenset[int]


def chunks_of(facts: Facts) -> Iterable[UUID]:
    """The chunks to select sentences from."""
    told = (*(fact.chunk for fact in facts.entities), *(fact.chunk for fact in facts.relations))
    return dict.fromkeys(chunk for chunk in told if chunk)


def extractive(facts: Facts, texts: Mapping[UUID, str]) -> CommunityReport:
    """A report made of names and literal sentences of the documents."""
    told = _most_central(facts, texts)
    findings = [_finding(sentence, facts) for sentence in told]
    findings += [_stated(relation) for relation in facts.relations[: _FINDINGS - len(findings)]]
    names = [entity.name for entity in facts.entities[:_NAMED]]
    more = f" and {facts.size - len(names):,} more" if facts.size > len(names) else ""
    title = ", ".join(names) + more
    opening = f"{facts.size:,} entities with {facts.links:,} relations between them, most of them around {names[0]}."
    summary = " ".join((opening, *(sentence.text for sentence in told[:_IN_SUMMARY])))
    reason = f"Based only on its size of {facts.size:,} entities: no model has judged it."
    return CommunityReport(title, summary, _rating(facts.size), reason, tuple(findings))


def _rating(size: int) -> float:
    """From 1 for two members to 10 for a thousand and more."""
    return round(min(10.0, math.log2(max(size, 2))), 1)


def _most_central(facts: Facts, texts: Mapping[UUID, str]) -> list[_Sentence]:
    """The sentences that mention most of the members, central members first, preferring members not yet mentioned."""
    worth = [1 / math.log2(rank + 2) for rank in range(len(facts.entities))]
    left = [one for one in _sentences(facts.entities, texts) if len(one.members) > 1]
    chosen: list[_Sentence] = []
    said: set[int] = set()
    while left and len(chosen) < _FINDINGS:
        best = max(left, key=lambda one: sum(worth[m] * (_SAID_BEFORE if m in said else 1) for m in one.members))
        chosen.append(best)
        said |= best.members
        left = [one for one in left if one.text != best.text]
    return chosen


def _sentences(entities: Sequence[EntityFact], texts: Mapping[UUID, str]) -> Iterable[_Sentence]:
    spelt = [[f" {found} " for found in map(phrases.phrase, (fact.name, *fact.aliases)) if found] for fact in entities]
    for chunk, text in texts.items():
        for start, end in sentences.split(text):
            if _SHORTEST <= end - start <= _LONGEST:
                said = f" {' '.join(word.word for word in phrases.words(text[start:end]))} "
                members = frozenset(n for n, names in enumerate(spelt) if any(name in said for name in names))
                yield _Sentence(tidy(text[start:end]), chunk, members)


def _finding(sentence: _Sentence, facts: Facts) -> Finding:
    members = [facts.entities[n] for n in sorted(sentence.members)]
    ids = {member.id for member in members}
    relations = [fact.id for fact in facts.relations if {fact.source, fact.target} <= ids]
    named = ", ".join(member.name for member in members[:_NAMED])
    return Finding(named, sentence.text, tuple(member.id for member in members), tuple(relations), (sentence.chunk,))


def _stated(relation: RelationFact) -> Finding:
    """A relation as a finding, if there are too few sentences."""
    chunks = (relation.chunk,) if relation.chunk else ()
    named = f"{relation.source_name}, {relation.target_name}"
    return Finding(named, tidy(relation.description), (relation.source, relation.target), (relation.id,), chunks)
