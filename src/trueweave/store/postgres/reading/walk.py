"""Names as they occur in texts, and the chunks they lead to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from trueweave.core.depths import depths
from trueweave.core.evidence import Scored
from trueweave.core.protocols import Name, Reached, RerankFeatures, Scores, Vectors, WalkLimits
from trueweave.store.postgres.binary_params import Ids, Numbers
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.reading.session import Session
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import Scope
from trueweave.store.postgres.vectors.vectors import half
from trueweave.text import phrases


class PostgresWalk:
    """A `WalkReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # By vector, pool and limits: names that the walk has been at, and the chunks they lead to. The steps of a walk
        # come to the same names again and again, and comparing their chunks to the vector is most of its cost.
        self._followed: defaultdict[tuple[bytes, tuple[UUID, ...], WalkLimits], dict[int, list[tuple[UUID, float]]]]
        self._followed = defaultdict(dict)

    async def subjects(self) -> float:
        """The share of chunks that are about a rare name; estimated from a sample if there are many."""
        query = "search.seen_subjects" if await self._session.is_restricted() else "search.subjects"
        [[share]] = await self._session.rows(QUERIES[query].encode())
        return float(share)

    async def names_in(self, text: str) -> list[Name]:
        """The names in a text that occur in some chunk: the longest at each position, and those inside them."""
        words = phrases.words(text)
        everything = {word.word: phrases.most_words(word.word) for word in words}
        numbers = {one: phrases.number(one) for one in phrases.candidates(words, everything)}
        ids = Numbers(numbers.values())
        rows = await self._session.rows(QUERIES["search.names_known"].encode(), {"ids": ids})
        chunks = {id_: count for id_, count in rows if count}
        known = {one for one, number in numbers.items() if number in chunks}
        return [
            Name(number := numbers[found.phrase], found.phrase, chunks[number], (found.start, found.end))
            for found in phrases.occurrences(words, phrases.Vocabulary(known, everything))
        ]

    async def both_lists(self, text: str, vector: Vectors, limit: int) -> tuple[Scores, Scores]:
        """The chunks nearest to a vector with their similarity, and those that match a text with their score."""
        session = self._session
        scope = await session.scope()
        if scope.is_empty:
            return {}, {}
        params = {"vector": half(vector), "text": text, **scope.params}
        near: Scores = {}
        matching: Scores = {}
        for depth in depths(limit):
            rows = await self._both(depth, scope, params)
            by_vector = [(id_, value) for is_near, id_, value in rows if is_near]
            by_words = [(id_, value) for is_near, id_, value in rows if not is_near]
            await self._know_copies([*_tied(by_vector), *_tied(by_words)], scope)
            near, matching = self._merged(by_vector, limit), self._merged(by_words, limit)
            both = (near, by_vector), (matching, by_words)
            if all(len(merged) >= limit or len(found) < depth for merged, found in both):
                break
        similarity = (await session.layout()).space.similarity
        return {id_: similarity(value) for id_, value in near.items()}, matching

    async def _both(self, depth: int, scope: Scope, params: dict[str, Any]) -> list[Row]:
        workspace = self._session.workspace.id
        return await self._session.located(lambda at: search.both_lists(at, workspace, depth, scope.shape), params)

    async def _know_copies(self, tied: Sequence[UUID], scope: Scope) -> None:
        """Look up which of these chunks have the same text. Equal texts have equal distances and scores, so only ties
        need to be checked."""
        same = self._session.details.same
        if unknown := [id_ for id_ in tied if id_ not in same]:
            params = {"ids": Ids(unknown), **scope.params}
            same |= dict(await self._session.rows(search.same_texts(scope.shape), params))

    def _merged(self, found: Sequence[tuple[UUID, float]], limit: int) -> Scores:
        """The results with each text once."""
        first: Scores = {}
        for id_, value in found:
            first.setdefault(self._session.details.same.get(id_, id_), value)
        return dict(list(first.items())[:limit])

    async def propagate(
        self, start: Sequence[Scored[Name]] | Scores, vector: Vectors, pool: Sequence[UUID], how: WalkLimits
    ) -> list[Reached]:
        """The chunks that the mass of names, or of the names in chunks, flows to, and how it is distributed among
        them."""
        session = self._session
        scope = await session.scope()
        if scope.is_empty or not start:
            return []
        workspace, given = session.workspace.id, not isinstance(start, Mapping)
        followed = self._followed[vector.tobytes(), tuple(pool), how]
        params = {
            "vector": half(vector),
            "pool": Ids(pool),
            "followed": Numbers(followed),
            **asdict(how),
            **_mass(start),
            **scope.params,
        }
        rows = await session.located(lambda at: search.propagate(at, workspace, scope.shape, given=given), params)
        mass = {name: mass for name, mass, _, _ in rows}
        for name, some in groupby((row for row in rows if row[2]), key=itemgetter(0)):
            followed[name] = [(chunk, weight) for _, _, chunk, weight in some]
        same = session.details.same
        return [
            Reached(name, mass[name], same.get(chunk, chunk), weight)
            for name in sorted(mass, key=lambda one: (-mass[one], one))
            for chunk, weight in followed[name]
        ]

    async def rerank_features(self, chunks: Sequence[UUID], text: str, vector: Vectors) -> list[RerankFeatures]:
        """The features of these chunks, in order, for a question and its vector."""
        if not chunks:
            return []
        params = {"chunks": Ids(chunks), "text": text, "vector": half(vector)}
        workspace, scope = self._session.workspace.id, await self._session.scope()
        rows = await self._session.located(lambda at: search.rerank_features(at, workspace, seen=scope.seen), params)
        return [RerankFeatures(*row) for row in rows]


def _tied(found: Sequence[tuple[UUID, float]]) -> list[UUID]:
    """The ids whose value occurs more than once."""
    times = Counter(value for _, value in found)
    return [id_ for id_, value in found if times[value] > 1]


def _mass(start: Sequence[Scored[Name]] | Scores) -> dict[str, Any]:
    if isinstance(start, Mapping):
        return {"chunks": Ids(start), "masses": list(start.values())}
    names = [one.item for one in start]
    return {
        "names": Numbers(name.id for name in names),
        "df": Numbers(name.chunks for name in names),
        "masses": [one.score for one in start],
    }
