"""AsyncWeft: one workspace of an index, with everything wired together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4

from weft.errors import UnknownWorkspace
from weft.extract import given
from weft.graph.contribution import contribution
from weft.ingest.settle import settle
from weft.protocols import Embedder, Vectors
from weft.store.embedded import EmbeddedServer, default_directory
from weft.store.postgres import digest, read, record, resolution, vectors
from weft.store.postgres.db import Database
from weft.store.postgres.migrate import migrate
from weft.types import (
    Change,
    Document,
    Entity,
    Hit,
    NameKey,
    Relation,
    ResolutionSettings,
    Rule,
    RuleKind,
    Status,
    VectorKind,
    Verdict,
)

Progress = Callable[[int], None]

_STORED_AT_ONCE = 256


def _unseen(_: int) -> None:
    """Progress that nobody looks at."""


class AsyncWeft:
    """One workspace. Made by `AsyncWeft.open`. Many processes may work in it at the same time."""

    def __init__(self, database: Database, workspace: int, embedder: Embedder | None = None) -> None:
        self.database = database
        self.workspace = workspace
        self._embedder = embedder

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str | None = None, workspace: str = "default", embedder: Embedder | None = None, *, make: bool = True
    ) -> AsyncIterator[Self]:
        """The workspace of that name, made when it is new unless `make` is False.

        Without a `url` it is in the bundled PostgreSQL, which is started if need be and left running.
        """
        if url is None:
            url = await asyncio.to_thread(EmbeddedServer(default_directory()).start)
        await migrate(url)
        async with Database(url) as database:
            yield await cls.enter(database, workspace, embedder, make=make)

    @classmethod
    async def enter(
        cls, database: Database, workspace: str, embedder: Embedder | None = None, *, make: bool = True
    ) -> Self:
        """The workspace of that name in an open database. A workspace without vectors takes the embedder's space."""
        id_ = await database.find_workspace(workspace, make=make)
        if id_ is None:
            raise UnknownWorkspace(
                f"there is no workspace {workspace!r}. Run `weft init --workspace {workspace}` to make it."
            )
        weft = cls(database, id_, embedder)
        if embedder:
            async with database.transaction(id_) as tx:
                space = await vectors.space(tx)
            if space is None:
                await weft.change_space(embedder)
        return weft

    # --- documents ------------------------------------------------------------------------------------

    async def add(self, documents: Iterable[Document] | Path, progress: Progress = _unseen) -> int:
        """Store these documents, or those of a JSON lines file, and settle them; how many were new or changed.

        A document whose uri is already there replaces the one of that uri. Documents are read as they are stored, so
        there may be more of them than fit in memory. `progress` is told how many more are done.
        """
        source = iter(given.read(documents) if isinstance(documents, Path) else documents)
        stored = list(islice(source, _STORED_AT_ONCE))
        new, embedded = await self._store(stored), 0
        while stored:
            # The next batch is stored while this one is being settled.
            settling = asyncio.create_task(settle(self.database, self.workspace, self._embedder))
            try:
                following = list(islice(source, _STORED_AT_ONCE))
                new += await self._store(following)
            finally:
                embedded += (await settling).vectors
            progress(len(stored))
            stored = following
        await vectors.shelve(self.database, self.workspace, embedded)
        return new

    async def _store(self, documents: Sequence[Document]) -> int:
        """Store documents, and let their new names look for others alike, which settling would wait for."""
        if not documents:
            return 0
        rows = [contribution(document) for document in documents]
        stored = await record.store(self.database, self.workspace, rows)
        await resolution.find_alike(self.database, self.workspace, stored.names)
        return stored.documents

    async def remove(self, uris: Sequence[str]) -> int:
        """Remove these documents, all in one pass, and settle; how many there were."""
        removed = await record.withdraw(self.database, self.workspace, uris)
        await self.settle()
        return removed

    async def settle(self) -> int:
        """Bring the view up to date with all that is stored; how many versions of documents were settled."""
        settled = await settle(self.database, self.workspace, self._embedder)
        await vectors.shelve(self.database, self.workspace, settled.vectors)
        return settled.documents

    async def documents(self) -> AsyncIterator[Document]:
        """All documents as they were stored, in no particular order."""
        async for page in record.read(self.database, self.workspace):
            for document in page:
                yield document

    # --- people's rules and settings ------------------------------------------------------------------

    async def merge(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be one entity from now on, whatever documents come."""
        return await self._lay_down("merge", names, id=id)

    async def split(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be an entity of their own, apart from all that they are alike to."""
        return await self._lay_down("split", names, id=id)

    async def rename(self, name: NameKey, label: str, id: UUID | None = None) -> Rule:
        """Let the entity of this name be called `label`."""
        return await self._lay_down("rename", (name,), label, id)

    async def _lay_down(
        self, kind: RuleKind, names: Sequence[NameKey], label: str = "", id: UUID | None = None
    ) -> Rule:
        rule = await resolution.add_rule(self.database, self.workspace, kind, names, label, id)
        await self.settle()
        return rule

    async def undo(self, rule: UUID) -> None:
        """Take a rule back."""
        await resolution.undo_rule(self.database, self.workspace, rule)
        await self.settle()

    async def rules(self) -> list[Rule]:
        """All rules, in the order in which they were laid down."""
        async with self.database.transaction(self.workspace) as tx:
            return await resolution.rules(tx)

    async def mentioned(self, names: Sequence[NameKey]) -> list[NameKey]:
        """Those of these names that some document mentions now, written and typed just so."""
        async with self.database.transaction(self.workspace) as tx:
            return await resolution.mentioned(tx, names)

    async def resolution(self) -> ResolutionSettings:
        """What makes two names one entity here."""
        async with self.database.transaction(self.workspace) as tx:
            return await resolution.settings(tx)

    async def change_resolution(self, to: ResolutionSettings) -> None:
        """Resolve all names by other settings."""
        await resolution.change_settings(self.database, self.workspace, to)
        await self.settle()

    async def change_space(self, embedder: Embedder, progress: Progress = _unseen) -> None:
        """Embed everything with another model beside the old vectors, then switch to it at once."""
        await vectors.change_space(self.database, self.workspace, embedder, progress)
        self._embedder = embedder

    # --- reading --------------------------------------------------------------------------------------

    async def status(self) -> Status:
        """How large the workspace is, and what still waits to be settled."""
        async with self.database.transaction(self.workspace) as tx:
            return await read.status(tx)

    async def entities(self, limit: int = 50) -> list[Entity]:
        """The most mentioned entities."""
        async with self.database.transaction(self.workspace) as tx:
            return await read.entities(tx, limit)

    async def relations(self, *entities: UUID, limit: int = 50) -> list[Relation]:
        """The relations from and to these entities, the heaviest first."""
        async with self.database.transaction(self.workspace) as tx:
            return await read.relations_of(tx, entities, limit)

    async def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return await vectors.nearest(self.database, self.workspace, kind, vector, limit)

    async def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """What changed after a position of the outbox, in order, for a projection to follow."""
        async with self.database.transaction(self.workspace) as tx:
            return await read.changes(tx, after, limit)

    # --- keeping house --------------------------------------------------------------------------------

    async def digest(self) -> str:
        """A hash of all that readers can see: equal digests, equal indexes, whatever the ids inside."""
        return await digest.digest(self.database, self.workspace)

    async def verify(self, progress: Progress = _unseen) -> Verdict:
        """Build the index anew beside this one, from the documents as they are now, and compare.

        No model is asked: what the vectors stand for is compared by the hashes of their texts. What still waits is
        settled first, and nobody should add or remove documents meanwhile.
        """
        await self.settle()
        async with self.rebuilt(progress) as beside:
            mine, other = await self.digest(), await beside.digest()
            differing = (
                [] if mine == other else await digest.differences(self.database, self.workspace, beside.workspace)
            )
        return Verdict(mine, other, tuple(differing))

    @asynccontextmanager
    async def rebuilt(self, progress: Progress = _unseen) -> AsyncIterator[AsyncWeft]:
        """A workspace built from scratch from these documents, settings and rules; gone at the end."""
        beside = await AsyncWeft.enter(self.database, f"rebuild-{uuid4()}")
        try:
            await beside.change_resolution(await self.resolution())
            for rule in await self.rules():
                await resolution.add_rule(self.database, beside.workspace, rule.kind, rule.names, rule.label)
            async for documents in record.read(self.database, self.workspace):
                await beside.add(documents, progress)
            yield beside
        finally:
            await read.drop_workspace(self.database, beside.workspace)

    async def sweep(self) -> int:
        """Forget names that no document mentions any more; how many there were. Best done when little else runs."""
        return await resolution.sweep(self.database, self.workspace)

    async def drop(self) -> None:
        """Take the workspace away, with all that is in it."""
        await read.drop_workspace(self.database, self.workspace)
