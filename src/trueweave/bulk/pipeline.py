"""The pipeline of a bulk load: the order of its steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid4

from trueweave.bulk.flows import Flow, packed
from trueweave.bulk.process import Load
from trueweave.bulk.shards import RecordShard, Shard
from trueweave.bulk.spool import Worked
from trueweave.bulk.stages import Steps, WorkShards
from trueweave.bulk.sums import EntityOf, Pair
from trueweave.core.record import ResolutionSettings
from trueweave.graph.components import components, inherit

_MENTIONS_IN_A_PART = 200_000
_MOST_TASKS = 1000  # of a step over shards: a shuffle has one value for each task and part

T = TypeVar("T")
Told = Callable[[str, int, int], None]  # a stage, the number of its units done, and their total


class LoadedShards(NamedTuple):
    """Shards whose record is loaded, and the steps that follow."""

    data: Any
    steps: Steps


@dataclass(frozen=True)
class Pipeline:
    """The steps of a load on a cluster."""

    flow: Flow
    load: Load
    told: Told

    def work(self, shards: Sequence[Shard | RecordShard], gpus: float = 0) -> dict[str, Worked]:
        """Process all shards. Returns what was made of each, by its key."""
        source = self.flow.source([packed([(0, shard)]) for shard in shards])
        self.told("Extracting", 0, len(shards))
        made: dict[str, Worked] = {}
        for key, worked in self.flow.rows(self.flow.map(source, WorkShards(self.load), gpus)):
            made[key] = worked
            self.told("Extracting", len(made), len(shards))
        return made

    def load_documents(self, keys: Sequence[str], mentions: int, how: ResolutionSettings) -> LoadedShards:
        """Load the record of the shards with these keys, which have this many mentions, for the steps that follow."""
        flow = self.flow
        parts = max(2 * flow.cpus, mentions // _MENTIONS_IN_A_PART)
        data = flow.source([packed((0, one) for one in some) for some in _dealt(list(enumerate(keys)))])
        steps = Steps(self.load, parts, how, {})
        left_out: defaultdict[str, set[UUID]] = defaultdict(set)
        for shard, id_ in flow.rows(flow.group(flow.map(data, steps.map_uris), steps.reduce_uris, parts)):
            left_out[shard].add(id_)
        steps = replace(steps, left_out={shard: frozenset(ids) for shard, ids in left_out.items()})
        return LoadedShards(self._waited("Loading documents", flow.map(data, steps.load_record)), steps)

    def _waited(self, stage: str, data: Any) -> Any:
        """The data of a stage, once it is computed; reports its progress."""
        self.told(stage, 0, len(data))
        for done in self.flow.wait(data):
            self.told(stage, done, len(data))
        return data

    def load_graph(self, shards: LoadedShards, former: Mapping[UUID, tuple[UUID, int]]) -> tuple[int, int]:
        """Load the names, entities and relations of these shards, with their vectors. Returns the numbers of names and
        entities.

        `former` has the previous entity of a name, and how often the name was mentioned, so that entities keep their
        ids.
        """
        flow, (data, steps) = self.flow, shards
        parts = steps.parts
        names = self._waited("Adding up names", flow.group(data, steps.reduce_names, parts))
        alike = flow.group(flow.map(names, steps.map_keys), steps.reduce_keys, parts)
        pairs: set[Pair] = set(flow.rows(self._waited("Resolving names", alike)))
        entities = flow.share(_entities(uuid4().hex, pairs, former))

        linked = flow.map(data, partial(steps.map_links, entities=entities))
        related = flow.group(linked, partial(steps.reduce_links, entities=entities), parts)
        degrees = self._waited("Loading relations", related)
        named = flow.map(names, partial(steps.map_entities, entities=entities))
        gathered = flow.group(flow.union(named, degrees), partial(steps.reduce_entities, entities=entities), parts)
        counts = list(flow.rows(self._waited("Loading entities", gathered)))
        return sum(number for number, _ in counts), sum(number for _, number in counts)

    def link(self, shards: LoadedShards, chunks: int) -> int:
        """Link all chunks, `chunks` in number, to the names in them, once all names are there. Returns how many were
        linked."""
        done = 0
        self.told("Linking names", 0, chunks)
        for number in self.flow.rows(self.flow.map(shards.data, shards.steps.link_chunks)):
            done += number
            self.told("Linking names", done, chunks)
        return done


def _dealt(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Values divided among as many tasks as are allowed."""
    at_once = 1 + len(values) // _MOST_TASKS
    return (values[at : at + at_once] for at in range(0, len(values), at_once))


def _entities(load: str, pairs: set[Pair], former: Mapping[UUID, tuple[UUID, int]]) -> EntityOf:
    """The entities of names that are similar to others or that had an entity before."""
    groups = components({name for pair in pairs for name in pair}, pairs, ())
    grouped = {name for group in groups for name in group}
    groups += [frozenset((name,)) for name in former if name not in grouped]
    new = EntityOf(load)
    listed: dict[UUID, UUID] = {}
    for group, kept in zip(groups, inherit(groups, dict(former)), strict=True):
        listed.update(dict.fromkeys(group, kept or new(min(group))))
    return EntityOf(load, listed)
