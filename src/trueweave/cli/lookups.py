"""The commands that look up what is in the index: `documents`, `document`, `entities`, `entity`, `relations`,
`neighbours` and `path`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.options import EntityName, EntityType, Limit
from trueweave.cli.questions import Documents, FilterText, Where, read_filter
from trueweave.cli.render import lookups as render
from trueweave.cli.render.evidence import described_entities, relation_table
from trueweave.cli.session import CommandSession, reading_command
from trueweave.core.record import NameKey

if TYPE_CHECKING:
    from trueweave.core.jobs import DocumentInfo, ListedState
    from trueweave.engine.trueweave import AsyncTrueweave

Fitting = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="Show only relations that match this text.")]


@reading_command
def documents(
    session: CommandSession,
    notes: Annotated[bool, typer.Option("--notes", help="List only documents with notes, and show the notes.")] = False,
    off: Annotated[bool, typer.Option("--off", help="List the documents that are switched off instead.")] = False,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    after: Annotated[str, typer.Option(metavar="URI", help="Begin behind this one.")] = "",
    limit: Limit = 50,
) -> None:
    """List the documents by name."""
    passing = read_filter(document, where, filter, session.settings.project_folder)

    async def look(trueweave: AsyncTrueweave) -> tuple[list[DocumentInfo], int]:
        state: ListedState = "off" if off else ""
        found = await trueweave.list_documents(limit, noted=notes, after=after, filter=passing, state=state)
        status = await trueweave.status()
        return found, status.off if off else status.documents

    found, there = session(look)
    narrowed = bool(passing or after)
    shown = render.document_list(found, there, limit, with_notes=notes, narrowed=narrowed, off=off)
    session.reply({"documents": found, "number": there}, *shown)


@reading_command
def document(
    session: CommandSession,
    uri: Annotated[str, typer.Argument(metavar="URI", help="The document, by uri or path.")],
    first: Annotated[int, typer.Option(min=0, help="The number of the first chunk to show.")] = 0,
    chunks: Annotated[int, typer.Option(min=0, help="How many chunks to show.")] = 5,
    entities: Annotated[int, typer.Option(min=0, help="How many of its entities to show.")] = 10,
) -> None:
    """Show a document: its title, metadata, entities and chunks."""
    from trueweave.text.uris import Naming

    wanted = Naming(session.settings.project_folder).uri(uri) if os.path.lexists(uri) else uri
    found = session(lambda trueweave: trueweave.document(wanted, first=first, chunks=chunks, entities=entities))
    session.reply({"document": found}, *render.document_lines(found, first))


@reading_command
def entities(
    session: CommandSession,
    text: Fitting = None,
    type_: EntityType = "",
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    limit: Limit = 20,
) -> None:
    """Show the entities that documents mention most, or those that match a text.

    A text is matched by meaning and by the words of names; only by words if there are no vectors.
    """
    passing = read_filter(document, where, filter, session.settings.project_folder)
    if text is not None:
        hits = session(lambda trueweave: trueweave.graph.search_entities(text, limit, type=type_, filter=passing))
        session.reply(*render.entity_hits(hits))
        return
    found = session(lambda trueweave: trueweave.graph.entities(limit, type=type_, filter=passing))
    none = f"No entity has the type {type_}." if type_ else render.NONE_PASSES if passing else render.NOTHING_YET
    session.reply({"entities": found}, render.entity_table(found) if found else none)


@reading_command
def entity(
    session: CommandSession,
    name: EntityName,
    relations: Annotated[int, typer.Option(min=0, help="How many relations to show.")] = 10,
    passages: Annotated[int, typer.Option(min=0, help="How many passages to show.")] = 3,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
) -> None:
    """Show an entity: its description, its strongest relations, and passages that mention it."""
    passing = read_filter(document, where, filter, session.settings.project_folder)
    shown: dict[str, Any] = {"relations": relations, "passages": passages, "filter": passing}
    found = session(lambda trueweave: trueweave.graph.entity(NameKey.from_typed(name), **shown))
    answer = {"entity": found.entity, "relations": found.relations, "passages": found.passages}
    session.reply(answer, *render.entity_lines(found))


@reading_command
def relations(
    session: CommandSession,
    text: Fitting = None,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    limit: Limit = 20,
) -> None:
    """Show the strongest relations, or those that match a text.

    A text is looked for by its meaning and by the words of names and descriptions; by words alone where nothing is
    embedded. `trueweave entity NAME` shows the relations of one entity.
    """
    passing = read_filter(document, where, filter, session.settings.project_folder)
    if text is not None:
        hits = session(lambda trueweave: trueweave.graph.search_relations(text, limit, filter=passing))
        session.reply(*render.relation_hits(hits))
        return
    found = session(lambda trueweave: trueweave.graph.relations(limit=limit, filter=passing))
    none = render.NONE_PASSES if passing else render.NOTHING_YET
    session.reply({"relations": found}, relation_table(found) if found else none)


@reading_command
def neighbours(
    session: CommandSession,
    name: EntityName,
    hops: Annotated[int, typer.Option(min=1, max=3, help="How many relations to follow.")] = 1,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    limit: Limit = 20,
) -> None:
    """Show the neighbours of an entity: nearer ones first, then the more strongly related."""
    passing = read_filter(document, where, filter, session.settings.project_folder)
    given: dict[str, Any] = {"hops": hops, "limit": limit, "filter": passing}
    found = session(lambda trueweave: trueweave.graph.neighbours(NameKey.from_typed(name), **given))
    text = described_entities(found) if found else f"Nothing is related to {name}."
    session.reply({"entities": found}, text)


@reading_command
def path(
    session: CommandSession,
    start: EntityName,
    end: EntityName,
    longest: Annotated[int, typer.Option(min=1, max=12, help="Maximum number of relations in the path.")] = 6,
    passages: Annotated[int, typer.Option(min=0, help="How many passages to show for each relation.")] = 1,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
) -> None:
    """Show how two entities are connected: a shortest path between them, and the passages that state each relation.

    Among paths of the same length, the one whose weakest relation is strongest is shown.
    """
    ends = NameKey.from_typed(start), NameKey.from_typed(end)
    passing = read_filter(document, where, filter, session.settings.project_folder)
    given: dict[str, Any] = {"longest": longest, "passages": passages, "filter": passing}
    found = session(lambda trueweave: trueweave.graph.path(*ends, **given))
    none = [f"No path of at most {longest} relations leads from {start} to {end}."]
    session.reply({"path": found}, *(none if found is None else render.path_lines(found)))
