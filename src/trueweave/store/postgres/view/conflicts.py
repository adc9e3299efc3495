"""Finds conflicts: entities of which documents state several values of a relation that has only one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.dates import date_of
from trueweave.core.functional import FunctionalRelation
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view.mentions import AROUND, WHOLE, FoundStatement, Surroundings
from trueweave.store.postgres.view.seen_graph import MOST_READ, Pair, SeenGraph

MOST_SIDES = 50  # values of one conflict that are returned

ConflictPlace = tuple[str, UUID, str]  # name and id of the subject, type of the relation


class Subject(NamedTuple):
    """An entity, and a relation of which it has only one value."""

    functional: FunctionalRelation
    id: UUID
    name: str
    type: str

    @property
    def place(self) -> ConflictPlace:
        """The position in the list of conflicts."""
        return self.name, self.id, self.functional.type


@dataclass
class FoundValue:
    """A value that documents state of a subject, by some pairs of names, and what is known of these documents: their
    number, the latest date, and statements of the latest."""

    id: UUID
    name: str
    type: str
    pairs: list[Pair] = field(default_factory=list)
    documents: int = 0
    date: str = ""
    statements: list[FoundStatement] = field(default_factory=list)


class FoundConflict(NamedTuple):
    """A subject with all values that documents state of it."""

    subject: Subject
    values: Sequence[FoundValue]


class ConflictLookups:
    """Conflicts between all documents."""

    def __init__(self, tx: Transaction, functional: Sequence[FunctionalRelation]) -> None:
        self._tx = tx
        self._functional = functional
        self._by_type = {one.type: one for one in functional}

    async def page(self, limit: int, after: ConflictPlace | None = None) -> list[FoundConflict]:
        """Conflicts by the name of the subject; with `after`, those after this place. Reads everything that documents
        state."""
        name, subject, type_ = after or (None, None, None)
        place = {"name": name, "subject": subject, "type": type_}
        rows = await self._tx.rows("conflicts.subjects", **self._wanted, limit=limit, **place)
        return await self._with_values(self._subjects(rows))

    async def of_chunks(self, chunks: Iterable[UUID]) -> list[FoundConflict]:
        """The conflicts about which one of these chunks states something."""
        rows = await self._tx.rows("conflicts.subjects_in_chunks", **self._wanted, chunks=Ids(chunks))
        return await self._with_values(sorted(self._subjects(rows), key=lambda one: one.place))

    async def add_statements(self, found: Iterable[FoundConflict], each: int) -> None:
        """Read the statements of up to `each` documents for each value."""
        sides = [(one.subject.functional.type, value) for one in found for value in one.values]
        pairs = [(n, type_, *pair) for n, (type_, value) in enumerate(sides) for pair in value.pairs]
        given = {
            "sides": [n for n, *_ in pairs],
            "types": Texts(type_ for _, type_, *_ in pairs),
            "sources": Ids(source for *_, source, _ in pairs),
            "targets": Ids(target for *_, target in pairs),
        }
        rows = (
            await self._tx.rows("conflicts.statements", **given, each=each, around=AROUND, whole=WHOLE) if pairs else []
        )
        for n, documents, uri, title, date, chunk, chunk_n, link_n, *rest in rows:
            offset, start, end, source, target, description, keywords, strength, skipped, text = rest
            value = sides[n][1]
            value.documents = documents
            value.date = value.date or date_of(date)
            around = Surroundings(offset, start, end, skipped, text)
            said = source, target, description, keywords, strength / THOUSANDTHS
            place = uri, chunk_n, link_n
            value.statements.append(FoundStatement(place, title, chunk, *said, around, date_of(date)))

    @property
    def _wanted(self) -> dict[str, Any]:
        return {
            "types": Texts(one.type for one in self._functional),
            "of_source": [one.of_source for one in self._functional],
        }

    def _subjects(self, rows: Iterable[Any]) -> list[Subject]:
        return [Subject(self._by_type[type_], *entity) for type_, *entity in rows]

    async def _with_values(self, subjects: Sequence[Subject]) -> list[FoundConflict]:
        """These subjects with their values, without those that have only one."""
        given = {
            "subjects": Ids(one.id for one in subjects),
            "types": Texts(one.functional.type for one in subjects),
            "of_source": [one.functional.of_source for one in subjects],
        }
        values: defaultdict[int, dict[UUID, FoundValue]] = defaultdict(dict)
        for n, id_, name, type_, *pair in await self._tx.rows("conflicts.values", **given) if subjects else []:
            values[n - 1].setdefault(id_, FoundValue(id_, name, type_)).pairs.append((pair[0], pair[1]))
        return [FoundConflict(one, list(values[n].values())) for n, one in enumerate(subjects) if len(values[n]) > 1]


class SeenConflictLookups(ConflictLookups):
    """Conflicts between the documents that a transaction with a sight sees. The list of all conflicts is computed in
    memory, so it is bounded: see `SeenGraph`."""

    def __init__(self, tx: Transaction, functional: Sequence[FunctionalRelation]) -> None:
        super().__init__(tx, functional)
        self._graph = SeenGraph(tx)

    async def page(self, limit: int, after: ConflictPlace | None = None) -> list[FoundConflict]:
        values = {key: value for key, value in (await self._values(None)).items() if len(value) > 1}
        subjects = await self._called(values)
        places = sorted((one for one in subjects if after is None or one.place > after), key=lambda one: one.place)
        chosen = places[:limit]
        named = await self._graph.called([id_ for one in chosen for id_ in values[one.functional.type, one.id]])
        return [
            FoundConflict(
                one,
                [
                    FoundValue(id_, named[id_].name, named[id_].type, pairs)
                    for id_, pairs in values[one.functional.type, one.id].items()
                ],
            )
            for one in chosen
        ]

    async def of_chunks(self, chunks: Iterable[UUID]) -> list[FoundConflict]:
        subjects = await self._called(await self._values(Ids(chunks)))
        return await self._with_values(sorted(subjects, key=lambda one: one.place))

    async def _values(self, chunks: Ids | None) -> dict[tuple[str, UUID], dict[UUID, list[Pair]]]:
        """For each subject, given by a type and an entity, its values: in all documents, or in some chunks."""
        given: dict[str, Any] = {"types": Texts(one.type for one in self._functional), "chunks": chunks}
        rows = self._graph.within_bounds(await self._tx.rows("conflicts.seen_pairs", **given, most=MOST_READ + 1))
        stored = {name: end for row in rows for name, end in ((row[1], row[3]), (row[2], row[4]))}
        entity_of, facts = await self._graph.entity_of(stored.items()), await self._graph.facts()
        found: defaultdict[tuple[str, UUID], defaultdict[UUID, list[Pair]]]
        found = defaultdict(lambda: defaultdict(list))
        for n, source, target, *_ in rows:
            functional, ends = self._functional[n - 1], (entity_of[source], entity_of[target])
            if ends[0] != ends[1] and not facts.hide(*ends):
                subject, value = ends if functional.of_source else ends[::-1]
                found[functional.type, subject][value].append((source, target))
        return {key: dict(values) for key, values in found.items()}

    async def _called(self, subjects: Iterable[tuple[str, UUID]]) -> list[Subject]:
        wanted = list(subjects)
        rows = await self._graph.called(await self._graph.known(id_ for _, id_ in wanted))
        return [Subject(self._by_type[type_], id_, rows[id_].name, rows[id_].type) for type_, id_ in wanted]

    async def _with_values(self, subjects: Sequence[Subject]) -> list[FoundConflict]:
        related = await self._graph.relations_of([one.id for one in subjects])
        pairs = [
            (n, ends[one.functional.of_source], pair)
            for n, one in enumerate(subjects)
            for ends in related
            if ends[not one.functional.of_source] == one.id
            for pair in self._graph.name_pairs(ends)
        ]
        given = {
            "types": Texts(subjects[n].functional.type for n, *_ in pairs),
            "sources": Ids(pair[0] for *_, pair in pairs),
            "targets": Ids(pair[1] for *_, pair in pairs),
        }
        stating = [pairs[at - 1] for (at,) in await self._tx.rows("conflicts.stating", **given)] if pairs else []
        named = await self._graph.called(list(dict.fromkeys(id_ for _, id_, _ in stating)))
        values: defaultdict[int, dict[UUID, FoundValue]] = defaultdict(dict)
        for n, id_, pair in stating:
            value = FoundValue(id_, named[id_].name, named[id_].type)
            values[n].setdefault(id_, value).pairs.append(pair)
        return [FoundConflict(one, list(values[n].values())) for n, one in enumerate(subjects) if len(values[n]) > 1]


def conflict_lookups(tx: Transaction, functional: Sequence[FunctionalRelation]) -> ConflictLookups:
    """The look-ups for a transaction, which is to be a snapshot: in all documents, or in those that it sees."""
    return (SeenConflictLookups if tx.is_restricted else ConflictLookups)(tx, functional)
