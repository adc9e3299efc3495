"""Reads the view: its size, its entities and relations, and its documents. Also drops workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import sql
from psycopg.errors import RaiseException

from trueweave.core.errors import UnknownWorkspace
from trueweave.core.graph import Entity, Relation
from trueweave.core.jobs import DocumentInfo, DocumentOrder, ListedState, Status
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.store.postgres.db import Database, Transaction, Workspace
from trueweave.store.postgres.failures import first_line
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.queue.queue import forget_jobs
from trueweave.store.postgres.search.document_filter import FilterShape


async def status(tx: Transaction) -> Status:
    """The size of the workspace, and what still has to be indexed."""
    [(documents, chunks, entities_, relations, due, dirty_names, model, graph, off)] = await tx.rows("read.status")
    return Status(documents, chunks, entities_, relations, due, dirty_names, model or "", graph, off)


class DocumentSelection(NamedTuple):
    """Which documents to list: those that pass a filter, in a state (see `list_documents`), whose uri starts with
    `prefix`, added since a time; with `noted`, only those with a note."""

    shape: FilterShape
    params: Mapping[str, Any]
    state: ListedState = ""
    prefix: str = ""
    since: datetime | None = None
    noted: bool = False

    def parts(self, after: str, *, is_restricted: bool = False) -> dict[str, str]:
        """The parts of a statement that reads these documents, from a position on. Callers who do not see all documents
        are shown those in the index, and nothing of the queue."""
        passes = "true" if self.shape.is_all else self.shape.visible("d.id")
        given = {"passes": passes, "selected": QUERIES["read.selected_documents"].format(), "after": after}
        parts = ("seen", "seen_queued") if is_restricted else ("stored", "queued")
        stored, queued = (QUERIES[f"read.{name}_documents"].format(**given) for name in parts)
        return {"stored": stored, "queued": queued}

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of such a statement."""
        chosen = {"state": self.state, "prefix": self.prefix, "since": self.since, "noted": self.noted}
        return {**chosen, **self.params}


_ORDERS: Mapping[DocumentOrder, str] = {"uri": "uri", "added": "added DESC, uri DESC"}


async def documents(
    tx: Transaction, limit: int, of: DocumentSelection, order: DocumentOrder, after: tuple[datetime | None, str]
) -> list[DocumentInfo]:
    """Documents by uri, or the latest first, after the one with this time and uri."""
    parts = of.parts(QUERIES[f"read.after_{order}"], is_restricted=tx.is_restricted)
    query = QUERIES["read.documents"].format(**parts, order=_ORDERS[order])
    at, uri = after
    rows = await tx.read(query, {"limit": limit, "at": at, "after": uri, **of.values})
    return [
        DocumentInfo(uri, title, chunks, added, tuple(notes), state, error, tuple(readers))
        for uri, title, chunks, added, notes, state, error, readers in rows
    ]


async def count_documents(tx: Transaction, of: DocumentSelection) -> int:
    """The number of these documents."""
    query = QUERIES["read.count_documents"].format(**of.parts("true", is_restricted=tx.is_restricted))
    [(number,)] = await tx.read(query, of.values)
    return int(number)


async def relations_of(tx: Transaction, ids: Sequence[UUID], limit: int) -> list[Relation]:
    """The relations from and to these entities, heaviest first."""
    rows = await tx.rows("read.relations_of", ids=list(ids), limit=limit)
    return [relation(*row) for row in rows]


async def drop_workspace(workspace: Workspace) -> int:
    """Delete a workspace with everything in it; returns how many documents there were.

    First new writers are locked out, then running ones are waited for. If this is interrupted, call it again. A
    workspace that is not on its home server is dropped there first, so that the home knows about it until everything is
    gone.
    """
    home, there = workspace.database, await workspace.placed()
    try:
        async with home.transaction(workspace.id, dropping=True, sight=workspace.sight) as tx:
            await tx.run("read.begin_drop")
    except RaiseException as error:
        raise UnknownWorkspace(f"{first_line(error)}. Open it again to drop it.") from error
    if there is home:
        return await _drop(home, workspace.id)
    async with there.transaction(workspace.id, dropping=True) as tx:
        await tx.run("read.begin_drop")
    documents = await _drop(there, workspace.id)
    await _drop(home, workspace.id)
    return documents


async def _drop(database: Database, workspace: int) -> int:
    async with database.transaction(workspace, unhurried=True, dropping=True) as tx:
        documents = await delete_rows(tx)
        await tx.connection.execute("SELECT drop_workspace()")
        return documents


async def delete_rows(tx: Transaction) -> int:
    """Delete everything in a workspace once its writers have finished; returns how many documents there were."""
    await tx.run("read.await_writers")
    documents = int(await tx.value("read.count_visible"))
    for (space,) in await tx.rows("vectors.all_spaces"):  # a change of space may have been abandoned halfway
        await tx.run("vectors.clear_space", space=space)
    await tx.run("text.clear")
    await tx.run("link.clear")
    for (table,) in await tx.rows("read.tables"):
        # Row-level security restricts this to the rows of this workspace.
        await tx.connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    await forget_jobs(tx)
    # Like jobs, these are not listed by read.tables, which needs forced row-level security.
    await tx.run("projection.remove_all")
    await tx.run("connector_source.remove_all")
    await tx.run("watch.remove_all")
    return documents


def entity(
    id_: UUID,
    name: str,
    type_: str,
    description: str,
    aliases: list[str],
    count: int,
    histogram: list[int],
    degree: int,
    summary: str,
) -> Entity:
    """An entity from the columns of a row."""
    return Entity(id_, name, type_, description, tuple(aliases), count, tuple(histogram), degree, summary)


def relation(
    id_: UUID,
    source: UUID,
    target: UUID,
    source_name: str,
    target_name: str,
    description: str,
    keywords: list[str],
    weight: int,
    count: int,
    histogram: list[int],
    summary: str,
    type_: str,
) -> Relation:
    """A relation from the columns of a row."""
    said = description, tuple(keywords), weight / THOUSANDTHS, count, tuple(histogram), summary, type_
    return Relation(id_, source, target, source_name, target_name, *said)
