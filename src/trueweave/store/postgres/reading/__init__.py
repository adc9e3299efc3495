"""The read side of one workspace in PostgreSQL, for one question: each call is one prepared statement."""

from __future__ import annotations

from trueweave.core.evidence import Filter
from trueweave.core.protocols import Readers
from trueweave.store.postgres.reading.graph import PostgresGraph
from trueweave.store.postgres.reading.record import PostgresRecord
from trueweave.store.postgres.reading.session import Session, VectorLayoutCache
from trueweave.store.postgres.reading.text import PostgresText
from trueweave.store.postgres.reading.vectors import PostgresVectors
from trueweave.store.postgres.reading.walk import PostgresWalk

__all__ = ["VectorLayoutCache", "open_readers"]


def open_readers(where: VectorLayoutCache, filter: Filter, *, standbys: bool = False) -> Readers:
    """Readers for one question, under its filter; with `standbys`, from a standby that is as current as the primary."""
    session = Session(where, filter, standbys=standbys)
    return Readers(
        PostgresVectors(session),
        PostgresText(session),
        PostgresGraph(session),
        PostgresRecord(session),
        PostgresWalk(session),
        session.is_restricted if where.workspace.sight else None,
        session.graph_vectors,
    )
