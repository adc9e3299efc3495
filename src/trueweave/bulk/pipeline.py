"""A bulk load: which step follows which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID, uuid4

from trueweave.bulk.flows import Flow, packed
from trueweave.bulk.process import Load
from trueweave.bulk.shards import RecordShard, Shard
from trueweave.bulk.spool import Worked
from trueweave.bulk.stages import Steps, WorkShards
from trueweave.bulk.sums import EntityOf, Pair
from trueweave.graph.components import components, inherit
from trueweave.types import ResolutionSettings

_MENTIONS_IN_A_PART = 200_000
_MOST_TASKS = 1000  # of a step over shards: a shuffle has one value for each of them and each part

Told = Callable[[str, int, int], None]  # a stage, how many of its units are done, and of how many


@dataclass(frozen=True)
class Loaded:
    """What was loaded: how many names and entities, and which chunks."""

    names: int
    entities: int
    chunks: list[UUID]


@dataclass(frozen=True)
class Pipeline:
    """The steps of a load on a cluster."""

    flow: Flow
    load: Load
    told: Told

    def work(self, shards: Sequence[Shard | RecordShard], gpus: float = 0) -> dict[str, Worked]:
        """Work all shards; what was made of each, by its key."""
        source = self.flow.source([packed([(0, shard)]) for shard in shards])
        made: dict[str, Worked] = {}
        for key, worked in self.flow.rows(self.flow.map(source, WorkShards(self.load), gpus)):
            made[key] = worked
            self.told("Extracting", len(made), len(shards))
        return made

    def load_view(
        self,
        keys: Sequence[str],
        mentions: int,
        how: ResolutionSettings,
        former: Mapping[UUID, tuple[UUID, int]],
    ) -> Loaded:
        """Load what the shards of these keys come to: the record, names, entities and relations, with their vectors.

        `former` says which entity a name belonged to before, and how much it was mentioned: entities keep their ids.
        """
        flow, told = self.flow, self.told
        parts = max(2 * flow.cpus, mentions // _MENTIONS_IN_A_PART)
        numbered = list(enumerate(keys))
        at_once = 1 + len(keys) // _MOST_TASKS
        some = (numbered[at : at + at_once] for at in range(0, len(keys), at_once))
        shards = flow.source([packed((0, one) for one in each) for each in some])
        steps = Steps(self.load, parts, how, {})
        left_out: defaultdict[str, set[UUID]] = defaultdict(set)
        for shard, id_ in flow.rows(flow.group(flow.map(shards, steps.map_uris), steps.reduce_uris, parts)):
            left_out[shard].add(id_)
        steps = replace(steps, left_out={shard: frozenset(ids) for shard, ids in left_out.items()})

        chunks: list[UUID] = []
        for n, some in enumerate(flow.rows(flow.map(shards, steps.load_record)), 1):
            chunks += some
            told("Loading documents", n, len(keys))

        told("Resolving names", 0, 2)
        names = flow.group(flow.map(shards, steps.map_names), steps.reduce_names, parts)
        told("Resolving names", 1, 2)
        pairs: set[Pair] = set(flow.rows(flow.group(flow.map(names, steps.map_keys), steps.reduce_keys, parts)))
        entities = flow.share(_entities(uuid4().hex, pairs, former))
        told("Resolving names", 2, 2)

        told("Loading entities and relations", 0, 2)
        linked = flow.map(shards, partial(steps.map_links, entities=entities))
        degrees = flow.group(linked, partial(steps.reduce_links, entities=entities), parts)
        told("Loading entities and relations", 1, 2)
        named = flow.map(names, partial(steps.map_entities, entities=entities))
        reduce = partial(steps.reduce_entities, entities=entities)
        counts = list(flow.rows(flow.group(flow.union(named, degrees), reduce, parts)))
        told("Loading entities and relations", 2, 2)
        return Loaded(sum(number for number, _ in counts), sum(number for _, number in counts), chunks)


def _entities(load: str, pairs: set[Pair], former: Mapping[UUID, tuple[UUID, int]]) -> EntityOf:
    """The entities of names that are alike to others, or had one before."""
    groups = components({name for pair in pairs for name in pair}, pairs, ())
    grouped = {name for group in groups for name in group}
    groups += [frozenset((name,)) for name in former if name not in grouped]
    new = EntityOf(load)
    listed: dict[UUID, UUID] = {}
    for group, kept in zip(groups, inherit(groups, dict(former)), strict=True):
        listed.update(dict.fromkeys(group, kept or new(min(group))))
    return EntityOf(load, listed)
