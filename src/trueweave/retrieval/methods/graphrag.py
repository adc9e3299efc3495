"""`graphrag`: the entities nearest to the question, with their relations, reports and chunks. After GraphRAG."""

from __future__ import annotations

from asyncio import gather
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query, Report, Scored
from trueweave.core.graph import Relation
from trueweave.core.protocols import ReportFound
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods import reports
from trueweave.retrieval.methods.parameters import CHECKED

_SPARE = 10  # factor for finding more chunks than needed, as several may have the same text

_Pairs = Sequence[tuple[UUID, UUID]]


@dataclass(frozen=True, config=CHECKED)
class GraphRag:
    """The entities nearest to the question, with their relations, reports and chunks. After GraphRAG's local search.

    In the style of Edge et al. 2024, "From Local to Global", and of the program's local search, but not that program.
    The differences: counts bound what is kept, where theirs fills shares of a number of tokens (the context of an
    answer is divided in the same way for all methods); relations are the 100 whose ends have the most relations, not
    all; there are no covariates.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    top_k_entities: int = Field(default=10, ge=1, le=100, description="How many entities to choose.")
    oversample: int = Field(
        default=2, ge=1, le=10, description="How many times as many are found and, as in the program, all chosen."
    )
    top_k_relationships: int = Field(
        default=10, ge=0, le=100, description="Relations to entities that were not chosen, for each chosen one."
    )
    community_level: int = Field(default=2, ge=0, description="The level of the reports, 0 the coarsest.")
    max_reports: int = Field(default=3, ge=1, le=100, description="How many reports to keep.")
    top_k: int = Field(default=8, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """Entities, nearest first; relations between them, then those to others; the reports on the communities that
        most of them are in; and the chunks that mention them.

        Chunks come in the order of their nearest entity; of the same entity, those that state more of its relations
        come first. A passage's score is the reciprocal of its rank. Reports are left out under a filter, as they cover
        all documents.
        """
        [found] = await context.entities_near(await context.embed([query.text]), self.top_k_entities * self.oversample)
        entities = [one.item for one in found]
        if not entities:
            return Evidence(reason="no entity with a vector is in the documents that were looked at.")
        chosen = [entity.id for entity in entities]
        around, mentions = await gather(context.around(chosen, [], 0), context.chunks_of_entities(chosen))
        stated = await context.chunks_of_relations([one.id for one in around.relations])
        ranked = _ranked(chosen, around.relations, mentions, stated)
        best = await context.passages([Scored(id_, 1.0) for id_ in ranked[: _SPARE * self.top_k]], self.top_k)
        passages = tuple(replace(passage, score=1 / rank) for rank, passage in enumerate(best, 1))
        told = await self._reports(query, chosen, context)
        support = reports.Support(passages)
        return Evidence(
            passages,
            tuple(entities),
            tuple(self._prioritised(chosen, around.relations)),
            reports=tuple(
                Report(
                    one.id,
                    reports.title_of(one),
                    reports.text_of(one),
                    one.score / len(chosen),
                    support.of(one.findings),
                )
                for one in told
            ),
        )

    def _prioritised(self, chosen: Sequence[UUID], relations: Sequence[Relation]) -> list[Relation]:
        """Relations between chosen entities, then those to others, of which those connected to more chosen entities
        come first; both by the degree of their ends, as they were found."""
        inside = set(chosen)
        within = [one for one in relations if {one.source, one.target} <= inside]
        out = [one for one in relations if not {one.source, one.target} <= inside]
        other = {one.id: one.target if one.source in inside else one.source for one in out}
        linked = defaultdict[UUID, set[UUID]](set)
        for one in out:
            linked[other[one.id]] |= {one.source, one.target} & inside
        out.sort(key=lambda one: -len(linked[other[one.id]]))
        return within + out[: self.top_k_relationships * len(chosen)]

    async def _reports(self, query: Query, chosen: Sequence[UUID], context: QueryContext) -> list[ReportFound]:
        if query.filter:
            context.note("no reports: they cover all documents, so they cannot be filtered")
            return []
        found = await context.reports_on(self.community_level, chosen, self.max_reports)
        if not found:
            context.note("no reports on these entities: `trueweave communities build` writes reports")
        return found


def _ranked(chosen: Sequence[UUID], relations: Sequence[Relation], mentions: _Pairs, stated: _Pairs) -> list[UUID]:
    """The chunks that mention these entities: by the first entity that a chunk mentions, then by how many of that
    entity's relations the chunk states."""
    ends = {one.id: {one.source, one.target} for one in relations}
    states = Counter((entity, chunk) for relation, chunk in stated for entity in ends[relation])
    order = {entity: rank for rank, entity in enumerate(chosen)}
    first: dict[UUID, tuple[int, int, UUID]] = {}
    for entity, chunk in mentions:
        place = order[entity], -states[entity, chunk], chunk
        first[chunk] = min(place, first.get(chunk, place))
    return sorted(first, key=lambda chunk: first[chunk])
