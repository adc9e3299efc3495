"""Conflicts between documents: the list of all, and those about which an answer says something."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from trueweave.core.answers import Answer
from trueweave.core.conflicts import Conflict, ConflictSide, newest
from trueweave.core.dates import period
from trueweave.core.functional import Uniqueness, functional_relations
from trueweave.engine.mentions import statement
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.view.conflicts import (
    MOST_SIDES,
    ConflictPlace,
    FoundConflict,
    FoundValue,
    conflict_lookups,
)

_OF_AN_ANSWER = 2  # documents named for each side


async def page(
    workspace: Workspace,
    given: Mapping[str, Uniqueness],
    limit: int,
    statements: int,
    after: ConflictPlace | None = None,
) -> list[tuple[ConflictPlace, Conflict]]:
    """Conflicts by the name of the subject, each with its place in the list; with `after`, those after this place."""
    functional = functional_relations(given)
    if not functional:
        return []
    async with workspace.transaction(snapshot=True) as tx:
        lookups = conflict_lookups(tx, functional)
        found = await lookups.page(limit, after)
        await lookups.add_statements(found, statements)
    return await asyncio.to_thread(lambda: [(one.subject.place, _conflict(one)) for one in found])


async def with_disagreements(workspace: Workspace, given: Mapping[str, Uniqueness], answer: Answer) -> Answer:
    """The answer with the conflicts about what a passage states that it cites, if it names one of the values."""
    functional = functional_relations(given)
    cited = dict.fromkeys(one.passage.id for one in answer.citations)
    if not (functional and cited):
        return answer
    async with workspace.transaction(snapshot=True) as tx:
        lookups = conflict_lookups(tx, functional)
        found = await lookups.of_chunks(cited)
        await lookups.add_statements(found, _OF_AN_ANSWER)
    named = await asyncio.to_thread(lambda: tuple(map(_conflict, _named(found, answer.text))))
    return replace(answer, disagreements=named)


def _named(found: Iterable[FoundConflict], text: str) -> list[FoundConflict]:
    """The conflicts with a value that a text names."""
    folded = text.casefold()
    return [one for one in found if any(name.casefold() in folded for name in _names(one))]


def _names(found: FoundConflict) -> set[str]:
    """The names of the values in a conflict, as far as they are known."""
    of_source = found.subject.functional.of_source
    written = {said.target if of_source else said.source for value in found.values for said in value.statements}
    return written | {value.name for value in found.values}


def _conflict(found: FoundConflict) -> Conflict:
    functional, id_, name, type_ = found.subject
    values = sorted(found.values, key=_rank)
    latest = newest((one.id, one.date) for one in values)
    is_later = functional.may_change and latest is not None and all(one.date for one in values)
    return Conflict(
        functional.type,
        functional.uniqueness,
        id_,
        name,
        type_,
        "may have changed" if is_later else "contradiction",
        latest,
        len(values),
        tuple(map(_side, values[:MOST_SIDES])),
    )


def _rank(value: FoundValue) -> tuple[bool, float, int, str, str]:
    """Values with the latest date first, those without one last."""
    begin = -float(period(value.date).begin) if value.date else 0.0
    return not value.date, begin, -value.documents, value.name, str(value.id)


def _side(value: FoundValue) -> ConflictSide:
    said = tuple(map(statement, value.statements))
    return ConflictSide(value.id, value.name, value.type, value.documents, value.date, said)
