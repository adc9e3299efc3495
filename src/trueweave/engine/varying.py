"""Temporary workspaces with the documents of another one, processed with other settings, to compare settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

from trueweave.core.events import Progress, ignore, in_run
from trueweave.core.money import Estimate
from trueweave.core.record import Document, Source
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.storing import store
from trueweave.graph.contribution import Contribution
from trueweave.index.settle import SettleResult, settle
from trueweave.ingest.estimate import estimate
from trueweave.ingest.stages import work
from trueweave.store.postgres.cluster.temporary_workspaces import drop_expired, temporary_workspace
from trueweave.store.postgres.record import record, resolution

_AT_ONCE = 32  # documents


@asynccontextmanager
async def varied(core: OpenWorkspace, changes: Mapping[str, Any], progress: Progress) -> AsyncIterator[OpenWorkspace]:
    """A temporary workspace with the visible documents and the rules of this one, processed with some settings changed.
    It is dropped at the end; those of killed processes are dropped at the next call.

    Model calls are paid from the budget of this workspace and cached there, so after an interruption none is paid for
    twice. No worker of another process helps, as nothing is queued.
    """
    database = await core.workspace.placed()
    await drop_expired(database)
    async with temporary_workspace(database, f"vary-{uuid4()}") as made:
        async with core.workspace.transaction() as tx:
            how, rules = await resolution.settings(tx), await resolution.rules(tx)
        async with made.transaction() as tx:
            await resolution.follow(tx, rules, how)
        async with core.beside(made, changes) as beside:
            await _process(core, beside, progress)
            yield beside


async def _process(core: OpenWorkspace, beside: OpenWorkspace, progress: Progress) -> None:
    models, embedder = await beside.models(), await beside.embedding()
    recipe = models.recipe()
    extractor, chunker = models.extractor(recipe), models.chunker(recipe)
    total = SettleResult()

    async def made(source: Source) -> Contribution:
        return await work(source, None, recipe, extractor, chunker)

    with in_run(ignore, is_watched=True):
        async for documents in record.read(core.workspace, visible=True):
            for some in _parts(documents):
                outcomes = await asyncio.gather(*map(made, map(_source, some)), return_exceptions=True)
                rows: list[Contribution] = []
                for outcome in outcomes:  # all have ended: those that were paid for are cached
                    if isinstance(outcome, BaseException):
                        raise outcome
                    rows.append(outcome)
                await store(beside, rows)
                total = total.plus(await settle(beside.workspace, embedder))
                progress(len(some))
    await beside.finish_settling(total)


async def estimate_varied(core: OpenWorkspace, changes: Mapping[str, Any]) -> Estimate:
    """What processing all documents with these settings would cost. No model is called."""
    async with core.with_settings(changes) as other:
        models = (await other.models()).unasked()
        recipe = models.recipe()
        prices, total = models.prices(recipe), None
        async for documents in record.read(core.workspace, visible=True):
            for some in _parts(documents):
                found = await estimate(core.workspace, map(_source, some), recipe, prices, ignore)
                total = found if total is None else _sum(total, found)
        return total or await estimate(core.workspace, [], recipe, prices, ignore)


def _sum(one: Estimate, other: Estimate) -> Estimate:
    counted = ("documents", "unchanged", "chunks", "tokens", "answered", "calls", "tokens_in", "tokens_out")
    numbers = {name: getattr(one, name) + getattr(other, name) for name in (*counted, "most_tokens_out", "pictures")}
    return replace(
        one,
        **numbers,
        price=_plus(one.price, other.price),
        most_price=_plus(one.most_price, other.most_price),
        embedding_price=_plus(one.embedding_price, other.embedding_price),
    )


def _plus(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other


def _parts(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    return (documents[at : at + _AT_ONCE] for at in range(0, len(documents), _AT_ONCE))


def _source(document: Document) -> Source:
    """The text of a document from its chunks, with the same positions. What lies between chunks is blank, as chunkers
    leave out nothing else."""
    parts, end = list[str](), 0
    for chunk in sorted(document.chunks, key=lambda one: one.start):
        parts += ["\n" * (chunk.start - end), chunk.text[max(end - chunk.start, 0) :]]
        end = max(end, chunk.end)
    return Source(document.uri, "".join(parts), document.title, document.metadata, document.places)
