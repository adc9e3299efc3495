"""Storing documents whose entities and relations are given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Progress, Refused, ignore, in_run
from trueweave.core.record import Document
from trueweave.engine.core import OpenWorkspace
from trueweave.graph.contribution import Contribution, contribution
from trueweave.index.settle import SettleResult, settle
from trueweave.ingest.seen import Seen
from trueweave.store.postgres.record import record, resolution

_DOCUMENTS_AT_ONCE = 256
_SAID_AT_ONCE = 20_000  # mentions and links


async def add_documents(
    core: OpenWorkspace,
    documents: Iterable[Document],
    progress: Progress,
    refused: Callable[[Refused], None] | None = None,
) -> int:
    """Store and index these documents. Returns the number of new or changed ones. See
    `AsyncTrueweave.add_documents`."""
    with in_run(ignore, is_watched=True), Seen() as seen:
        return await _add(core, _usable(documents, seen, refused), progress)


async def _add(core: OpenWorkspace, source: Iterator[Contribution], progress: Progress) -> int:
    embedder = await core.embedding()
    stored = await asyncio.to_thread(_some, source)
    new, total = await store(core, stored), SettleResult()
    while stored:
        # Store the next batch while this one is being settled.
        settling = asyncio.create_task(settle(core.workspace, embedder))
        try:
            following = await asyncio.to_thread(_some, source)
            new += await store(core, following)
        finally:
            total = total.plus(await settling)
        progress(len(stored))
        stored = following
    await core.finish_settling(total)
    return new


async def store(core: OpenWorkspace, documents: Sequence[Contribution]) -> int:
    """Store documents, and match their new names with similar ones, so that settling need not wait for that."""
    if not documents:
        return 0
    stored = await record.store(core.workspace, documents, core.settings.max_storage_bytes)
    await resolution.find_alike(core.workspace, stored.names)
    return stored.documents


def _usable(
    documents: Iterable[Document], seen: Seen, refused: Callable[[Refused], None] | None
) -> Iterator[Contribution]:
    """The documents that can be stored, as rows of the record. Two documents read from different places with the same
    uri are an error; a caller may pass the same uri twice, and the last one counts."""
    for document in documents:
        try:
            if document.origin and (clash := seen.clash(document.uri, document.origin)):
                raise InvalidDocument(clash.reason)
            made = contribution(document)
        except InvalidDocument as error:
            if refused is None:
                raise
            refused(Refused(document.origin or document.uri, str(error)))
        else:
            yield made


def _some(documents: Iterator[Contribution]) -> list[Contribution]:
    """The next batch of documents, limited both in documents and in mentions and links."""
    some: list[Contribution] = []
    said = 0
    for document in documents:
        some.append(document)
        said += document.document.size
        if len(some) >= _DOCUMENTS_AT_ONCE or said >= _SAID_AT_ONCE:
            break
    return some
