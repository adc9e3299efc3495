"""A small graph whose search results can be worked out by hand.

    P1  Ada -founded-> Ben, Ada -knows-> Cas              Ada ─── Ben ─── Dan ─── Eve ─── Fay ─── Gus
    P2  Ada; Dan -wrote to-> Eve                           │ ╲
    P3  Ben -hired-> Dan                                   │  Lou                Hal ─── Ida ─── Jan
    P4  Cas; Dan -wrote to-> Eve, Eve -met-> Fay -> Gus    │
    P5  Hal -married-> Ida                                Cas                    Kim
    P6  Jan, Kim
    P7  Ida -sold to-> Jan
    P8  Lou -taught-> Ada

Vectors are angles: a text at 10 degrees has a similarity of cos 10 to one at 0. The entities from Ada to Lou are at 5,
10 … 60 degrees, the chunks P8 to P1 at 0, 10 … 70; any other text is at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from uuid import UUID

import numpy as np

from trueweave.core.evidence import Filter
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Readers, Vectors
from trueweave.core.record import Chunk, Document, Link, Mention
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.retrieval.methods.naive import Naive
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers

NAMES = ["Ada", "Ben", "Cas", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jan", "Kim", "Lou"]

# For each document, the names that it mentions but does not link, and (source, target, description, strength).
SAID: dict[str, tuple[list[str], list[tuple[str, str, str, int]]]] = {
    "P1": ([], [("Ada", "Ben", "founded", 4), ("Ada", "Cas", "knows", 1)]),
    "P2": (["Ada"], [("Dan", "Eve", "wrote to", 4)]),
    "P3": ([], [("Ben", "Dan", "hired", 6)]),
    "P4": (["Cas"], [("Dan", "Eve", "wrote to", 6), ("Eve", "Fay", "met", 2), ("Fay", "Gus", "met", 1)]),
    "P5": ([], [("Hal", "Ida", "married", 3)]),
    "P6": (["Jan", "Kim"], []),
    "P7": ([], [("Ida", "Jan", "sold to", 3)]),
    "P8": ([], [("Lou", "Ada", "taught", 2)]),
}

ANGLES = {
    **{name: 5.0 * n for n, name in enumerate(NAMES, 1)},
    **{f"P{n}": 80.0 - 10 * n for n in range(1, 9)},
    "Ada -> Ben": 5, "Dan -> Eve": 10, "Eve -> Fay": 15, "Ben -> Dan": 20,
    "Ada -> Cas": 60, "Fay -> Gus": 62, "Hal -> Ida": 64, "Ida -> Jan": 66, "Lou -> Ada": 68,
    "": 0.0,
}  # fmt: skip

FIRST_HALF, SECOND_HALF = Filter(metadata={"half": "first"}), Filter(metadata={"half": "second"})
NOBODY = Filter(uris=("no such document",))


@dataclass(frozen=True)
class Angles:
    """An embedder that looks up a table: a text gets the angle of the longest entry that it begins with."""

    model: str = "testing/angles"
    dimensions: int = 2
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        found = [max((key for key in ANGLES if text.startswith(key)), key=len) for text in texts]
        return at(*(ANGLES[key] for key in found))


def at(*degrees: float) -> Vectors:
    """Vectors at these angles."""
    return np.array([[cos(radians(one)), sin(radians(one))] for one in degrees], dtype=np.float32)


def document(name: str) -> Document:
    """One of the documents. Its metadata says which half it is in."""
    mentioned, links = SAID[name]
    chunk = Chunk(
        f"{name} tells of something.",
        mentions=tuple(Mention(one) for one in mentioned),
        links=tuple(Link(source, target, said, strength=n) for source, target, said, n in links),
    )
    return Document(name, (chunk,), metadata={"half": "first" if name <= "P4" else "second"})


@dataclass(frozen=True)
class SmallGraph:
    """The small graph in a workspace, with the ids of its chunks (as in "P1"), entities ("Ada") and relations
    ("Ada -> Ben")."""

    trueweave: AsyncTrueweave
    ids: dict[str, UUID]

    def named(self, ids: Sequence[UUID]) -> list[str]:
        """The names of these ids."""
        names = {id_: name for name, id_ in self.ids.items()}
        return [names[id_] for id_ in ids]

    def readers(self, filter: Filter) -> Readers:
        """PostgreSQL's readers for a question with this filter, for a store that has the record say what passes it."""
        return open_readers(VectorLayoutCache(self.trueweave.workspace), filter)

    def of(self, *names: str) -> list[UUID]:
        return [self.ids[name] for name in names]


async def add_small_graph(trueweave: AsyncTrueweave) -> SmallGraph:
    """Add the small graph to a workspace that has no documents and embeds with `Angles`."""
    await trueweave.add_documents(map(document, SAID))
    entities = {entity.name: entity.id for entity in await trueweave.graph.entities()}
    relations = await trueweave.graph.relations(*entities.values())
    chunks = (await trueweave.retrieve("anything", Naive(top_k=len(SAID)))).passages
    ids = entities | {f"{r.source_name} -> {r.target_name}": r.id for r in relations} | {c.uri: c.id for c in chunks}
    return SmallGraph(trueweave, ids)
