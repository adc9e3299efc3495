"""The read side of one workspace in PostgreSQL, for one question: each call is one prepared statement."""

from __future__ import annotations

from trueweave.core.evidence import Filter
from trueweave.core.protocols import Readers
from trueweave.store.postgres.reading.graph import PostgresGraph
from trueweave.store.postgres.reading.record import PostgresRecord
from trueweave.store.postgres.reading.seen import SeenGraphReader, SeenRecord
from trueweave.store.postgres.reading.session import Session, VectorLayoutCache
from trueweave.store.postgres.reading.text import PostgresText
from trueweave.store.postgres.reading.vectors import PostgresVectors
from trueweave.store.postgres.reading.walk import PostgresWalk

__all__ = ["VectorLayoutCache", "open_readers"]


def open_readers(where: VectorLayoutCache, filter: Filter, *, standbys: bool = False) -> Readers:
    """Readers for one question, under its filter; with `standbys`, from a standby that is as current as the primary."""
    session = Session(where, filter, standbys=standbys)
    has_sight = where.workspace.sight is not None
    return Readers(
        PostgresVectors(session),
        PostgresText(session),
        SeenGraphReader(session) if has_sight else PostgresGraph(session),
        SeenRecord(session) if has_sight else PostgresRecord(session),
        PostgresWalk(session),
        session.is_restricted if has_sight else None,
        session.graph_vectors,
    )
