"""Selecting the part of the graph that a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Filter, Passage
from trueweave.core.graph import Community, Entity, Relation
from trueweave.core.protocols import Readers
from trueweave.core.record import NameKey
from trueweave.engine import lookup
from trueweave.engine.core import OpenWorkspace
from trueweave.formats.pictures import MOST, GraphPicture
from trueweave.store.limits import MOST_RELATIONS
from trueweave.store.postgres.view import communities
from trueweave.store.postgres.view.seen import lookups

_OF_ENTITY, _OF_RELATION = 2, 1  # passages
_RELATIONS_EACH = 6  # relations of a picture for each entity, at most


def check_limit(limit: int) -> None:
    """Raise InvalidArgument for more entities than a picture can show."""
    if not 1 <= limit <= MOST:
        raise InvalidArgument(f"a picture of {limit:,} entities cannot be read. Take 1 to {MOST}.")


async def around(core: OpenWorkspace, wanted: UUID | str | NameKey, hops: int, limit: int) -> GraphPicture:
    """An entity and its neighbours."""
    check_limit(limit)
    [id_] = await lookup.entity_ids(core, wanted)
    readers = core.open_readers(Filter())
    found = await readers.record.entities([id_])
    if not found:
        raise lookup.no_entity(id_)
    [centre], near = found, await _near(readers, [id_], hops)
    note = _left_out([id_, *near], limit, f"around {centre.name}", is_cut=len(near.relations) >= MOST_RELATIONS)
    return await _picture(core, readers, centre.name, [id_, *near][:limit], {id_}, note)


async def between(core: OpenWorkspace, ends: Sequence[UUID | str | NameKey], longest: int, limit: int) -> GraphPicture:
    """The path between two entities, and as many of their neighbours as there is room for."""
    check_limit(limit)
    found = await lookup.entity_path(core, await lookup.entity_ids(core, *ends), longest, 0)
    if found is None:
        raise InvalidArgument(
            f"no path of at most {longest} relations leads from {_name(ends[0])} to {_name(ends[1])}, so there is "
            "nothing to show. `trueweave path --longest` looks further."
        )
    way = [one.id for one in found.entities]
    readers = core.open_readers(Filter())
    near = await _near(readers, way, 1)
    title = f"{found.entities[0].name} – {found.entities[-1].name}"
    note = _left_out([*way, *near], limit, "on the path and around it", is_cut=len(near.relations) >= MOST_RELATIONS)
    marked = {*way, *(step.relation.id for step in found.steps)}
    return await _picture(core, readers, title, [*way, *near][:limit], marked, note)


async def community(core: OpenWorkspace, of: Community, limit: int) -> GraphPicture:
    """The members of a community, those with most relations first."""
    check_limit(limit)
    async with core.workspace.transaction() as tx:
        members = await communities.members(tx, of.id, limit)
    more = f"{len(members):,} of {of.size:,} members are shown, those with most relations." if of.size > limit else ""
    title = of.title or ", ".join(of.names)
    return await _picture(core, core.open_readers(Filter()), title, [one.id for one in members], set(), more)


class _Near(list[UUID]):
    """The entities around some others, nearest first, and the relations that lead to them."""

    relations: list[Relation]


async def _near(readers: Readers, start: Sequence[UUID], hops: int) -> _Near:
    relations = await readers.record.relations(await readers.graph.neighbourhood(start, hops))
    ends = dict.fromkeys(end for one in relations for end in (one.source, one.target))
    found = _Near(end for end in ends if end not in start)
    found.relations = relations
    return found


def _left_out(found: Sequence[UUID], limit: int, where: str, *, is_cut: bool) -> str:
    """A sentence on what was left out; empty if everything is shown."""
    there = f"{len(found):,}{' or more' if is_cut else ''} entities {where}"
    if len(found) > limit:
        return f"{limit:,} of {there} are shown: the nearest, then those more heavily related."
    return f"Not all is shown: there are {there}, and the heaviest relations of each were followed." if is_cut else ""


async def _picture(
    core: OpenWorkspace, readers: Readers, title: str, ids: Sequence[UUID], marked: set[UUID], note: str
) -> GraphPicture:
    entities = await readers.record.entities(ids)
    async with core.workspace.transaction(snapshot=True) as tx:
        among = await lookups(tx).relations_among(ids, _RELATIONS_EACH * len(ids))
    relations = await readers.record.relations([*(one for one in among if one in marked), *among])
    relations = list({one.id: one for one in relations}.values())
    if len(among) >= _RELATIONS_EACH * len(ids):
        note = f"{note} Of the relations between them, the {len(relations):,} heaviest are shown.".strip()
    return GraphPicture(
        title,
        tuple(entities),
        tuple(relations),
        frozenset(marked),
        await _passages(core, readers, entities, relations),
        note,
    )


async def _passages(
    core: OpenWorkspace, readers: Readers, entities: Iterable[Entity], relations: Iterable[Relation]
) -> dict[UUID, tuple[Passage, ...]]:
    of_entities = [one.id for one in entities]
    of_relations = [one.id for one in relations]
    return {
        **await lookup.passages_of(core, readers, "entities", of_entities, _OF_ENTITY),
        **await lookup.passages_of(core, readers, "relations", of_relations, _OF_RELATION),
    }


def _name(given: UUID | str | NameKey) -> str:
    return given.name if isinstance(given, NameKey) else str(given)
