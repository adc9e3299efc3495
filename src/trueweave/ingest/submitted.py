"""The documents that a run submitted to the queue, and what became of those that other workers processed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import partial
from uuid import UUID

from trueweave.core.events import Event, Extracted, Failed, Listener, outcome
from trueweave.core.jobs import DocumentState
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.queue import ingest_jobs
from trueweave.store.postgres.record.sources import Job

_SOME = 1000

_TABLES = """
CREATE TABLE source (uri TEXT PRIMARY KEY, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE reported (uri TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_ALL = "SELECT uri, id FROM source"
_UNREPORTED = "SELECT uri, id FROM source WHERE uri NOT IN (SELECT uri FROM reported)"


class Submitted:
    """The documents that one run submitted. Large numbers are kept in a temporary file, not in memory."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        """Delete the temporary file."""
        self._connection.close()

    def add(self, jobs: Iterable[Job]) -> None:
        """Record what was submitted."""
        rows = ((job.uri, job.id.bytes) for job in jobs)
        self._connection.executemany("INSERT OR REPLACE INTO source VALUES (?, ?)", rows)

    def reported(self, event: Event) -> None:
        """Record that the listener of the run has been told of the outcome of a document."""
        match event:
            case Extracted(uri) | Failed(uri, final=True):
                self._connection.execute("INSERT OR IGNORE INTO reported VALUES (?)", (uri,))

    def all(self) -> Iterator[list[Job]]:
        """The submitted documents, in batches."""
        return self._batches(_ALL)

    def unreported(self) -> Iterator[list[Job]]:
        """Those whose outcome the listener has not been told, in batches."""
        return self._batches(_UNREPORTED)

    def _batches(self, query: str) -> Iterator[list[Job]]:
        cursor = self._connection.execute(query)
        while rows := cursor.fetchmany(_SOME):
            yield [Job(uri, UUID(bytes=id_)) for uri, id_ in rows]


async def report_others(workspace: Workspace, submitted: Submitted, listener: Listener) -> None:
    """Report the documents of a run that other workers processed. Documents that somebody has removed or changed since
    are left out."""
    for jobs in submitted.unreported():
        for one in await workspace.retry_while_down(partial(_states, workspace, [job.uri for job in jobs])):
            if one.state != "waiting":
                listener(outcome(one))


async def _states(workspace: Workspace, uris: list[str]) -> list[DocumentState]:
    async with workspace.transaction() as tx:
        return await ingest_jobs.states(tx, uris)
